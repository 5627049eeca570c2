/**
 * Prepares the programs and addons that tests need besides npm packages. It is part of `verify` and runs in parallel to
 * steps that do not need it. With `--downloads`, it only fetches what the network has, which needs no built package. With
 * `--addons`, it only builds the addons, which needs libtorch and the built package.
 */
import { preparePeers } from "./peers.mjs";
import { allOf, install, step, viceroy } from "./steps.mjs";
import { prepareTensors, prepareTorch } from "./torch.mjs";

const downloads = [
  ["programs of others that tests need", () => preparePeers()],
  ["bundlers", () => install(".ci/bundlers")],
  ["other versions of Node.js", () => install(".ci/node")],
  ["libtorch", () => prepareTorch()],
];
const addons = [
  ["the addon for one-sided memory", () => viceroy(".", "setup", "--rdma")],
  ["the addon for tensors", () => prepareTensors()],
];
const steps = [
  ...(process.argv.includes("--addons") ? [] : downloads),
  ...(process.argv.includes("--downloads") ? [] : addons),
];
process.exitCode = await allOf(
  steps.map(
    ([name, command]) =>
      async () =>
        (await step(name, command)) ? 0 : 1,
  ),
);
