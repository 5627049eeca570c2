/**
 * What tests need besides packages of npm: programs of others, and the addon. Part of `verify`, beside steps that do not need it: most of
 * it is waiting for Debian's packages.
 */
import { preparePeers } from "./peers.mjs";
import { allOf, step, viceroy } from "./steps.mjs";

const steps = [
  ["programs of others that tests need", () => preparePeers()],
  ["the addon for one-sided memory", () => viceroy(".", "setup", "--rdma")],
];
process.exitCode = await allOf(
  steps.map(
    ([name, command]) =>
      async () =>
        (await step(name, command)) ? 0 : 1,
  ),
);
