/**
 * Runs tests of the addon for tensors under the sanitizers for addresses and undefined behaviour: the tests that cover most of it in one
 * process and the tests of threads that end, or with `--full` all tests. libtorch is not instrumented, and no error is suppressed.
 */
import { addresses, sanitized, testsOf, withFolder } from "./sanitizers.mjs";

const tests = process.argv.includes("--full")
  ? ["test/tensor"]
  : ["recorded", "gradients", "hostile", "communicator"].map((name) => `test/tensor/${name}.test.ts`);

process.exitCode = await withFolder(async (folder) => {
  // Without optimization, the templates of libtorch compile three times as fast.
  const under = await sanitized("tensor", addresses, folder, ["-O0", "-g1"]);
  return under(testsOf("sockets", "test/native/tensor.test.ts", ...tests), { VICEROY_PEERS: "required" });
});
