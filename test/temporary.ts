/**
 * All temporary files of a run of tests are in one folder, which is removed when it is over: also those of programs that are
 * killed. Its name is short: paths of Unix sockets are at most 107 bytes long.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

export default function setup(): () => void {
  const folder = mkdtempSync(path.join(tmpdir(), "vt-"));
  process.env["TMPDIR"] = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
