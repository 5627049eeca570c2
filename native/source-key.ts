/**
 * Computes a key of 16 letters for the sources and build settings of an addon. The build of Viceroy stores the keys, so
 * that no process reads the sources at its start.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** The macros that are defined for all sources. */
export const addonDefinitions: readonly string[] = [
  "NAPI_VERSION=8",
  "NODE_ADDON_API_CPP_EXCEPTIONS",
  // A thread that is being terminated cannot receive exceptions. Without this macro, an exception that an addon throws
  // then ends the process.
  "NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS",
];

/** The linker options of all addons. */
export const addonLinking: readonly string[] = [
  // Node.js unloads an addon together with the last worker thread that uses it. Only afterwards it runs what libuv has
  // deferred: the close callbacks of the addon's handles. Threads of the addon can also still be about to return.
  // Therefore the code stays in the address space until the process ends, whichever thread has loaded it.
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

/**
 * Returns the names of the headers that several addons include, relative to the folders of addons.
 * @param folder the folder that contains those of all addons
 */
export function sharedHeaders(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => path.extname(file) === ".h")
    .sort()
    .map((file) => `../${file}`);
}

/**
 * Hashes the sources of an addon and the headers beside their folder, which several addons include.
 * @param sources the folder of the addon
 */
export function sourceKey(version: string, sources: string): string {
  const hash = createHash("sha256");
  hash.update(`${version}\0${[...addonDefinitions, ...addonLinking].join("\0")}\0`);
  for (const file of [...sharedHeaders(path.dirname(sources)), ...sourceFiles(sources, [".cc", ".h"])]) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(path.join(sources, file)))
      .update("\0");
  }
  return hash.digest("hex").slice(0, 16);
}
