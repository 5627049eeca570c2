/**
 * Addons under the sanitizers of g++. Node.js itself is not instrumented, so the libraries of the sanitizers are loaded before it. Needs the
 * built compiler.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { root, run } from "./steps.mjs";

/** What is looked at, how an addon is built for it, and how what uses it is run. */
export const addresses = {
  name: "addresses and undefined behaviour",
  flags: ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-g"],
  libraries: ["libasan.so", "libubsan.so"],
  // What V8 leaves behind at its end is its own affair.
  env: { ASAN_OPTIONS: "detect_leaks=0", UBSAN_OPTIONS: "print_stacktrace=1" },
  start: ["timeout", "600"],
};

export const threads = {
  name: "threads",
  // Fences are not understood: what is ordered by one is ordered by atomic words as well.
  flags: ["-fsanitize=thread", "-Wno-tsan", "-g"],
  libraries: ["libtsan.so"],
  env: { TSAN_OPTIONS: `suppressions=${path.join(root, ".ci/tsan.supp")} report_signal_unsafe=0 exitcode=66` },
  // It wants its own places in the address space.
  start: ["timeout", "600", "setarch", "-R"],
};

/** Arguments of Node.js that run these files of tests. */
export const testsOf = (project, ...files) => ["node_modules/vitest/vitest.mjs", "run", "--project", project, ...files];

const library = (name) => execFileSync("g++", [`-print-file-name=${name}`], { encoding: "utf8" }).trim();

/** Calls something with a folder for what it builds, which is removed afterwards. In the checkout: the sources are found from there. */
export async function withFolder(call) {
  process.chdir(root);
  mkdirSync(path.join(root, ".viceroy"), { recursive: true });
  const folder = mkdtempSync(path.join(root, ".viceroy/sanitizers-"));
  try {
    return await call(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Builds an addon for one kind.
 * @returns runs Node.js with it: `(args, env) => exit code`
 */
export async function sanitized(addon, { name, flags, libraries, env, start }, folder, more = []) {
  console.log(`sanitizers of ${addon}: ${name}`);
  const builder = path.join(folder, "build.mjs");
  const options = { absWorkingDir: root, bundle: true, platform: "node", format: "esm", logLevel: "warning" };
  await build({ ...options, entryPoints: ["native/build.ts"], outfile: builder });
  const { buildAddon } = await import(builder);
  const file = await buildAddon(addon, { flags: [...flags, ...more], file: path.join(folder, "addon.node") });
  const shared = { ...env, [`VICEROY_${addon.toUpperCase()}_ADDON`]: file };
  const [command, ...before] = start;
  return (args, own = {}) =>
    run(command, [...before, process.execPath, ...args], {
      env: { ...shared, ...own, LD_PRELOAD: libraries.map(library).join(" ") },
    });
}
