/** Reads an archive that comes in parts: the files `files.0`, `files.1` and so on of a folder. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Returns all bytes. @param name the name of the files, without the number */
export function readParts(folder: string, name: string): Buffer {
  const parts: Buffer[] = [];
  for (let part = 0; existsSync(join(folder, `${name}.${part}`)); part++) {
    parts.push(readFileSync(join(folder, `${name}.${part}`)));
  }
  return Buffer.concat(parts);
}
