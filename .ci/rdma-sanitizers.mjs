/**
 * Runs what the addon for one-sided memory does under the sanitizers of g++: addresses and undefined behaviour, or with `--threads` races. Node.js
 * itself is not instrumented, so the libraries of the sanitizers are loaded before it. Needs the built compiler.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { allOf, root, run } from "./steps.mjs";

// In the checkout: the sources are found from there.
mkdirSync(path.join(root, ".viceroy"), { recursive: true });
const folder = mkdtempSync(path.join(root, ".viceroy/sanitizers-"));
const program = "test/rdma/programs/exercise.mjs";

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
        const preload = libraries.map(library).join(" ");
        const [command, ...args] = [...start, process.execPath, program];
        return run(command, args, { env: { ...env, VICEROY_RDMA_ADDON: file, LD_PRELOAD: preload } });
      }),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
