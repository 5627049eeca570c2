/** Tests of a process whose parent sends an invalid frame: it prints the reason and exits with a code other than 0. */
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const bootFile = fileURLToPath(new URL("../../../dist/boot.cjs", import.meta.url));
const identity = `${"1".repeat(16)}:${"2".repeat(16)}:${"3".repeat(16)}:0:::`;

test.each([
  [
    "closes a link with an invalid frame",
    Buffer.alloc(64, 0xff),
    1,
    /^FATAL ERROR: cannot continue: this process has closed the link to its parent\n\w*Error: /,
  ],
  ["leaves without output when its parent has ended", undefined, 0, /^$/],
])("it %s", async (_, bytes, code, stderr) => {
  const runDir = mkdtempSync(join(tmpdir(), "viceroy-fault-"));
  const child = spawn(process.execPath, [bootFile, identity, runDir], { stdio: ["ignore", "ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr!.on("data", (chunk) => {
    said += chunk;
  });
  const link = child.stdio[3] as Socket;
  link.on("error", () => {});
  const ended = new Promise((resolve) => child.once("close", resolve));
  if (bytes === undefined) link.destroy();
  else link.write(bytes);
  expect(await ended).toBe(code);
  expect(said).toMatch(stderr);
});
