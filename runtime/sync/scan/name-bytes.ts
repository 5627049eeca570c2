/**
 * Names of files that are not UTF-8. Neither URLs of modules nor manifests can contain them, and Node.js reads them with replacement
 * characters, under which the files do not exist. So they are refused by a message that shows their bytes.
 */
import { readdirSync } from "node:fs";
import { SyncError } from "../sync-error.js";

/** The character that stands for bytes which are not UTF-8. */
const REPLACEMENT = "\ufffd";

/** Returns whether a decoded name may stand for bytes that are not UTF-8. */
export function mayBeDamaged(name: string): boolean {
  return name.includes(REPLACEMENT);
}

/** Returns whether bytes are valid UTF-8. */
export function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Returns bytes as text in which everything but printable ASCII is escaped as `\xe9`. */
export function escapeBytes(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) {
    text += byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, "0")}`;
  }
  return text;
}

/** The error for a name that is not UTF-8. */
export function damagedName(root: string, name: Uint8Array): SyncError {
  const shown = escapeBytes(name);
  return new SyncError(
    "entry-refused",
    `cannot scan ${root}: the name of a file is not valid UTF-8, got "${shown}"; rename the file, or exclude its folder`,
    { path: shown },
  );
}

/**
 * Checks a folder that contains a name with replacement characters, which can be part of a valid name.
 *
 * @param shown the path of the folder from the root on, with a slash at its end unless it is empty
 * @throws {SyncError} if a name in the folder is not UTF-8
 */
export function checkNames(root: string, folder: string, shown: string): void {
  for (const name of readdirSync(folder, { encoding: "buffer" })) {
    if (!isUtf8(name)) throw damagedName(root, Buffer.concat([Buffer.from(shown), name]));
  }
}
