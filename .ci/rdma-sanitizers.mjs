/**
 * Runs the addon for registered memory under the sanitizers for addresses and undefined behaviour, or with `--threads` under the sanitizer for
 * data races. `--unless-passed` and `--record` are those of passed.mjs. Programs exercise one-sided memory and RDMA devices; tests exercise links in shared memory and threads that end.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { unlessPassed } from "./passed.mjs";
import { addresses, sanitized, testsOf, threads, withFolder } from "./sanitizers.mjs";
import { allOf } from "./steps.mjs";

const memory = "test/rdma/programs/exercise.mjs";
const devices = "test/rdma/programs/exercise-verbs.mjs";
const links = ["pipe", "hostile", "processes"].map((name) => `test/link/transport/shared-memory/${name}.test.ts`);

/** Compiles a library that stands in for libibverbs. @returns the folder of the library */
function standIn(folder, name, source, flags) {
  const place = path.join(folder, name);
  mkdirSync(place);
  const made = ["-std=c++17", "-shared", "-fPIC", "-Inative/rdma", ...flags, "-x", "c++", source];
  execFileSync("g++", [...made, "-o", path.join(place, "libibverbs.so.1")], { stdio: "inherit" });
  return place;
}

/** The files that decide the result: those of the addon and of its build, of the runtime that drives it, and of the tests. */
const places = [
  "native/rdma",
  "native/build.ts",
  "native/build-sources.ts",
  "native/c-library.ts",
  "native/source-key.ts",
  "runtime/rdma",
  "runtime/link/transport/shared-memory",
  "test/native/rdma.test.ts",
  "test/rdma/programs",
  "test/link/transport/shared-memory",
  ".ci/rdma-sanitizers.mjs",
  ".ci/sanitizers.mjs",
];

const check = async (folder) => {
  // A separate test finds data races of rings: test/link/transport/shared-memory/ring.test.ts.
  if (process.argv.includes("--threads")) return (await sanitized("rdma", threads, folder))([memory]);
  const under = await sanitized("rdma", addresses, folder);
  const loop = standIn(folder, "loop", "test/rdma/programs/loop-verbs.cc", addresses.flags);
  const empty = standIn(folder, "empty", "/dev/null", []);
  return allOf([
    () => under([memory]),
    () => under([devices]),
    () => under([devices, "incomplete"], { LD_LIBRARY_PATH: empty }),
    () => under([devices, "loop"], { LD_LIBRARY_PATH: loop }),
    () => under(testsOf("sockets", "test/native/rdma.test.ts"), { VICEROY_PEERS: "required" }),
    () => under(testsOf("memory", ...links), { VICEROY_PEERS: "required", VICEROY_LINKS: "memory" }),
  ]);
};

const name = process.argv.includes("--threads") ? "rdma-thread-sanitizer" : "rdma-sanitizers";
process.exitCode = await unlessPassed(name, places, () => withFolder(check));
