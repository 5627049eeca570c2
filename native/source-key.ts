/**
 * What an addon is built from, in 16 letters: the build of Viceroy asks for it, so that no process has to read the sources when it
 * starts.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** What is defined for all sources. */
export const addonDefinitions: readonly string[] = [
  "NAPI_VERSION=8",
  "NODE_ADDON_API_CPP_EXCEPTIONS",
  // A thread that is being terminated takes no exceptions; without this, one that is thrown in it then ends the process.
  "NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS",
];

/** How all addons are linked. */
export const addonLinking: readonly string[] = [
  // Node.js unloads an addon together with the last worker thread that has it, and only then runs what libuv has put off: the
  // close callbacks of the addon's handles. Threads of the addon's own may still be about to return, too. So its code stays in
  // the address space until the process ends, whichever thread has loaded it.
  "-Wl,-z,nodelete",
];

/** @param sources the folder of the addon */
export function sourceKey(version: string, sources: string): string {
  const hash = createHash("sha256");
  hash.update(`${version}\0${[...addonDefinitions, ...addonLinking].join("\0")}\0`);
  for (const name of readdirSync(sources).sort()) {
    if (/\.(cc|h)$/.test(name))
      hash
        .update(`${name}\0`)
        .update(readFileSync(path.join(sources, name)))
        .update("\0");
  }
  return hash.digest("hex").slice(0, 16);
}
