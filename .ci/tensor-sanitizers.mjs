/**
 * Runs the tests of the addon for tensors under the sanitizers of addresses and undefined behaviour: those that reach most of it in one
 * process and those of threads that end, or with `--full` all of them, those between processes as well. libtorch itself is not
 * instrumented; nothing of what it does is suppressed.
 */
import { addresses, sanitized, testsOf, withFolder } from "./sanitizers.mjs";

const tests = process.argv.includes("--full")
  ? ["test/tensor"]
  : ["recorded", "gradients", "hostile", "communicator"].map((name) => `test/tensor/${name}.test.ts`);

process.exitCode = await withFolder(async (folder) => {
  // The templates of libtorch take three times as long to compile when they are optimized as well.
  const under = await sanitized("tensor", addresses, folder, ["-O0", "-g1"]);
  return under(testsOf("sockets", "test/native/tensor.test.ts", ...tests), { VICEROY_PEERS: "required" });
});
