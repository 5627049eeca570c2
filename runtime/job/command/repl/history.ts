/** The history of the prompt: a file of the user, which nobody else reads. */
import { closeSync, fchmodSync, openSync } from "node:fs";
import { join } from "node:path";
import { cacheDirectory, makePrivateDirectory } from "../../../cache/private-files.js";

/** Returns the file, which exists then; undefined if the user has no private folder for it. Never throws. */
export function historyFile(): string | undefined {
  const folder = cacheDirectory();
  if (!makePrivateDirectory(folder)) return undefined;
  const file = join(folder, "repl-history");
  try {
    const descriptor = openSync(file, "a", 0o600);
    // The user may have copied it from somewhere.
    fchmodSync(descriptor, 0o600);
    closeSync(descriptor);
    return file;
  } catch {
    return undefined;
  }
}
