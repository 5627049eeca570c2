/**
 * All temporary files of a run of tests are in one folder, which is removed when it is over: also those of programs that are
 * killed.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/**
 * The length of the longest temporary directory in which the folder is made. Paths of Unix sockets are at most 107 bytes
 * long, and the runtime puts its run directory elsewhere when they would be longer, where tests do not look for it.
 */
const longest = 20;

export default function setup(): () => void {
  const base = tmpdir().length > longest ? "/tmp" : tmpdir();
  const folder = mkdtempSync(path.join(base, "vt-"));
  process.env["TMPDIR"] = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
