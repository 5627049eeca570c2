/**
 * Runs what the addon does under the sanitizers of g++: addresses and undefined behaviour, or with `--threads` races. One-sided memory and
 * RDMA devices by programs that use all of it, links in shared memory by their own tests. Node.js itself is not instrumented, so
 * the libraries of the sanitizers are loaded before it. Needs the built compiler.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { allOf, root, run } from "./steps.mjs";

// In the checkout: the sources are found from there.
mkdirSync(path.join(root, ".viceroy"), { recursive: true });
const folder = mkdtempSync(path.join(root, ".viceroy/sanitizers-"));
const memory = "test/rdma/programs/exercise.mjs";
const devices = "test/rdma/programs/exercise-verbs.mjs";
const links = ["shared", "hostile", "processes"].map((name) => `test/link/shared/${name}.test.ts`);

const vitest = ["node_modules/vitest/vitest.mjs", "run", "--project", "memory", ...links];

const kinds = [
  {
    name: "addresses and undefined behaviour",
    flags: ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-g"],
    libraries: ["libasan.so", "libubsan.so"],
    // What V8 leaves behind at its end is its own affair.
    env: { ASAN_OPTIONS: "detect_leaks=0", UBSAN_OPTIONS: "print_stacktrace=1" },
    start: ["timeout", "600"],
  },
  {
    name: "threads",
    // Fences are not understood: what is ordered by one is ordered by atomic words as well.
    flags: ["-fsanitize=thread", "-Wno-tsan", "-g"],
    libraries: ["libtsan.so"],
    env: { TSAN_OPTIONS: `suppressions=${path.join(root, ".ci/tsan.supp")} report_signal_unsafe=0 exitcode=66` },
    // It wants its own places in the address space.
    start: ["timeout", "600", "setarch", "-R"],
  },
];

async function builder() {
  const file = path.join(folder, "build.mjs");
  const options = { absWorkingDir: root, bundle: true, platform: "node", format: "esm", logLevel: "warning" };
  await build({ ...options, entryPoints: ["native/build.ts"], outfile: file });
  return import(file);
}

/** A library in the place of libibverbs. @returns the folder that it is in */
function standIn(name, source, flags) {
  const place = path.join(folder, name);
  mkdirSync(place);
  const made = ["-std=c++17", "-shared", "-fPIC", "-Inative/rdma", ...flags, "-x", "c++", source];
  execFileSync("g++", [...made, "-o", path.join(place, "libibverbs.so.1")], { stdio: "inherit" });
  return place;
}

const library = (name) => execFileSync("g++", [`-print-file-name=${name}`], { encoding: "utf8" }).trim();

try {
  process.chdir(root);
  const { buildAddon } = await builder();
  process.exitCode = await allOf(
    kinds
      .filter(({ name }) => (name === "threads") === process.argv.includes("--threads"))
      .map(({ name, flags, libraries, env, start }) => async () => {
        console.log(`sanitizers: ${name}`);
        const file = await buildAddon("rdma", { flags, file: path.join(folder, `${flags.length}-addon.node`) });
        const shared = { ...env, VICEROY_RDMA_ADDON: file, LD_PRELOAD: libraries.map(library).join(" ") };
        const under = (args, more = {}) => {
          const [command, ...before] = start;
          return run(command, [...before, process.execPath, ...args], { env: { ...shared, ...more } });
        };
        // Races on rings have a test of their own: test/link/shared/ring.test.ts.
        if (name === "threads") return under([memory]);
        const loop = standIn("loop", "test/rdma/programs/loop-verbs.cc", flags);
        const empty = standIn("empty", "/dev/null", []);
        return allOf([
          () => under([memory]),
          () => under([devices]),
          () => under([devices, "incomplete"], { LD_LIBRARY_PATH: empty }),
          () => under([devices, "loop"], { LD_LIBRARY_PATH: loop }),
          () => under(vitest, { VICEROY_PEERS: "required", VICEROY_LINKS: "memory" }),
        ]);
      }),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
