/**
 * Prepares the programs and addons that tests need besides npm packages. It is part of `verify` and runs in parallel to
 * steps that do not need it, because it mostly waits for Debian's packages.
 */
import { preparePeers } from "./peers.mjs";
import { allOf, install, step, viceroy } from "./steps.mjs";
import { prepareTensors, prepareTorch } from "./torch.mjs";

const steps = [
  ["programs of others that tests need", () => preparePeers()],
  ["bundlers", () => install(".ci/bundlers")],
  ["other versions of Node.js", () => install(".ci/node")],
  ["the addon for one-sided memory", () => viceroy(".", "setup", "--rdma")],
  ["libtorch", () => prepareTorch()],
  ["the addon for tensors", () => prepareTensors()],
];
process.exitCode = await allOf(
  steps.map(
    ([name, command]) =>
      async () =>
        (await step(name, command)) ? 0 : 1,
  ),
);
