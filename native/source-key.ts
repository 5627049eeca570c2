/**
 * Computes a key of an addon's sources: 16 hexadecimal digits of a hash. The build of Viceroy computes the key and stores it in dist/, so
 * that a process does not read the sources when it starts.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** Preprocessor macros that are defined for all sources. */
export const addonDefinitions: readonly string[] = [
  "NAPI_VERSION=8",
  "NODE_ADDON_API_CPP_EXCEPTIONS",
  // A thread that is being terminated accepts no exceptions. Without this macro, an exception that is thrown in such a thread ends the process.
  "NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS",
];

/** Linker options of all addons. */
export const addonLinking: readonly string[] = [
  // Node.js unloads an addon when the last thread that uses it ends, and only then runs the close callbacks of the addon's libuv handles.
  // Threads that the addon has started may still be returning, too. The code of the addon therefore stays in the address space until the
  // process ends.
  "-Wl,-z,nodelete",
];

/**
 * Returns the paths of the source files of an addon, relative to its folder, with `/` as separator, sorted.
 * @param sources the folder of the addon
 * @param extensions endings of the names of the files, with the dot
 */
export function sourceFiles(sources: string, extensions: readonly string[]): string[] {
  return readdirSync(sources, { recursive: true, encoding: "utf8" })
    .filter((file) => extensions.includes(path.extname(file)))
    .map((file) => file.split(path.sep).join("/"))
    .sort();
}

/** @param sources the folder of the addon */
export function sourceKey(version: string, sources: string): string {
  const hash = createHash("sha256");
  hash.update(`${version}\0${[...addonDefinitions, ...addonLinking].join("\0")}\0`);
  for (const file of sourceFiles(sources, [".cc", ".h"])) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(path.join(sources, file)))
      .update("\0");
  }
  return hash.digest("hex").slice(0, 16);
}
