/**
 * Builds addons with the sanitizers of g++, and runs Node.js with them. Node.js itself is not instrumented, so the libraries of the sanitizers
 * are preloaded. Needs the built package.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { root, run } from "./steps.mjs";

/** A group of sanitizers: the flags that build an addon, and the environment and command that run Node.js. */
export const addresses = {
  name: "addresses and undefined behaviour",
  flags: ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-g"],
  libraries: ["libasan.so", "libubsan.so"],
  // V8 does not free all of its memory when the process ends.
  env: { ASAN_OPTIONS: "detect_leaks=0", UBSAN_OPTIONS: "print_stacktrace=1" },
  start: ["timeout", "1200"],
};

export const threads = {
  name: "threads",
  // The sanitizer does not support fences. Atomic variables order the same accesses.
  flags: ["-fsanitize=thread", "-Wno-tsan", "-g"],
  libraries: ["libtsan.so"],
  env: { TSAN_OPTIONS: `suppressions=${path.join(root, ".ci/tsan.supp")} report_signal_unsafe=0 exitcode=66` },
  // The sanitizer needs fixed addresses, so address space randomization is disabled.
  start: ["timeout", "1200", "setarch", "-R"],
};

/** Returns the arguments of Node.js that run test files. */
export const testsOf = (project, ...files) => ["node_modules/vitest/vitest.mjs", "run", "--project", project, ...files];

const library = (name) => execFileSync("g++", [`-print-file-name=${name}`], { encoding: "utf8" }).trim();

/** Calls a function with a temporary folder in the checkout, so that builds in it find the sources. Removes the folder afterwards. */
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
 * Builds an addon for a group of sanitizers.
 * @returns a function `(args, env) => exit code` that runs Node.js with the addon
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
