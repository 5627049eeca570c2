/**
 * Runs the slowest test files by themselves, for `verify`: those that emulate a processor. What few files decide passes again
 * while these have not changed, so `--unless-passed` leaves a test file out, and `--record` records what has passed (passed.mjs).
 * `npm test` runs these files like all others.
 *
 * Each of these tests runs code that other tests run on this machine, too. What it adds is another kernel, device or processor. So the places name
 * what depends on them, and not the whole runtime: the processes, links and calls of these programs are the same everywhere.
 */
import { fileURLToPath } from "node:url";
import { isLeftOut, unlessPassed } from "./passed.mjs";
import { allOf, hasOtherNodes, install, newestNode, otherNode, otherNodes } from "./steps.mjs";
import { printEnd, runUntilSteady } from "./tests.mjs";

/** The native addon for registered memory, and what builds and finds it. */
const addon = [
  "native/rdma",
  "native/addon-location.ts",
  "native/build.ts",
  "native/build-sources.ts",
  "native/c-library.ts",
  "native/prebuilt-addon.ts",
  "native/source-key.ts",
  "runtime/native",
  "runtime/rdma",
];
/** The virtual machine of Debian's packages. */
const machine = ["test/rdma/machine", ".ci/debian.mjs", ".ci/machine.mjs"];
const own = [".ci/slow-tests.mjs", "package-lock.json"];

const slowTests = [
  {
    // test/rdma/hosts.test.ts runs the same actors between hosts without RDMA devices.
    name: "rdma-devices",
    // The second file compares the addon with the headers of the machine.
    files: ["test/rdma/machine.test.ts", "test/rdma/verbs-abi.test.ts"],
    peer: "machine",
    places: [...own, ...addon, ...machine, "test/rdma"],
    newest: true,
  },
  {
    // test/tasks/host/memory-guard.test.ts runs with the control groups of this machine, too.
    name: "memory-control-groups",
    files: ["test/tasks/host/memory-machine.test.ts"],
    peer: "machine",
    places: [...own, ...machine, "runtime/process-table.ts", "runtime/tasks/host", "test/tasks/host"],
    newest: true,
  },
  {
    // test/package/pack.test.ts and the tests of links in shared memory run the same program and the same addon on this processor.
    name: "arm64",
    files: ["test/package/elsewhere/arm64.test.ts"],
    peer: "arm64",
    places: [
      ...own,
      ...addon,
      ".ci/arm64.mjs",
      ".ci/debian.mjs",
      ".ci/node-arm64",
      ".ci/pack.mjs",
      ".ci/packages",
      "runtime/link/transport/shared-memory",
      "test/package/elsewhere",
      "test/package/packed.ts",
    ],
  },
];

/** The test files that this script runs. */
export const slowTestFiles = slowTests.flatMap(({ files }) => files);

/**
 * Returns which programs of others these tests need: `machine` for the virtual machine, and `arm64`. Those of tests that are left out are
 * not needed.
 */
export async function neededPeers() {
  const needed = new Set();
  for (const { name, places, peer } of slowTests) if (!(await isLeftOut(name, places))) needed.add(peer);
  return needed;
}

/** @param newest whether the tests run with the newest version of Node.js, which starts processes faster */
async function run({ name, files, places, newest = false }) {
  return unlessPassed(name, places, async () => {
    const node =
      newest && hasOtherNodes && (await install(otherNodes)) === 0 ? otherNode(newestNode) : process.execPath;
    const result = await runUntilSteady(files, { node, env: { VICEROY_PEERS: "required" } });
    printEnd(result.passed, result.failed, result.failures, result.unsteady);
    return result.code === 0 && result.passed === 0 ? undefined : result.code;
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = await allOf(slowTests.map((test) => () => run(test)));
}
