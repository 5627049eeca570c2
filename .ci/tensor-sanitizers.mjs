/**
 * Runs tests of the addon for tensors under the sanitizers for addresses and undefined behaviour: the tests that cover most of it in one
 * process and the tests of threads that end, or with `--full` all tests. `--unless-passed` and `--record` are those of passed.mjs.
 * libtorch is not instrumented, and no error is suppressed.
 */
import { unlessPassed } from "./passed.mjs";
import { addresses, sanitized, testsOf, withFolder } from "./sanitizers.mjs";

const tests = process.argv.includes("--full")
  ? ["test/tensor"]
  : ["recorded", "gradients", "hostile", "hostile-programs", "replay", "not-replayed", "communicator"].map(
      (name) => `test/tensor/${name}.test.ts`,
    );

/** The files that decide the result: those of the addon and of its build, of the runtime that drives it, and of the tests. */
const places = [
  "native/tensor",
  "native/stack",
  "native/stack_sampler.h",
  "native/node-headers.ts",
  "native/build.ts",
  "native/build-sources.ts",
  "native/c-library.ts",
  "native/source-key.ts",
  "native/libtorch.ts",
  "runtime/tensor",
  "test/native/tensor.test.ts",
  "test/tensor",
  ".ci/tensor-sanitizers.mjs",
  ".ci/sanitizers.mjs",
];

const check = async (folder) => {
  // Without optimization, the templates of libtorch compile three times as fast.
  const under = await sanitized("tensor", addresses, folder, ["-O0", "-g1"]);
  return under(testsOf("sockets", "test/native/tensor.test.ts", ...tests), { VICEROY_PEERS: "required" });
};

process.exitCode = await unlessPassed("tensor-sanitizers", places, () => withFolder(check));
