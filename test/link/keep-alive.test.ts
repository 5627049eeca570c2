/** Tests that pending calls, streams and receivers keep a program alive, and that links and meshes do not. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const program = fileURLToPath(new URL("fixtures/waiting-program.ts", import.meta.url));

function run(mode: string): Promise<{ code: unknown; output: string }> {
  return new Promise((resolve) => {
    const args = ["--import", "tsx", program, mode];
    execFile(process.execPath, args, { timeout: 250_000 }, (error, output) => {
      resolve({ code: error === null ? 0 : (error.code ?? error.signal), output: output.trim() });
    });
  });
}

test.each([
  ["call", "slept 150"],
  ["stream", "counter 0\ncounter 0"],
  ["recv", "received 0"],
  ["given-up", "given up"],
  ["nothing", ""],
])("a program exits as soon as its waiting ends, and not before: mode %s", async (mode, output) => {
  expect(await run(mode)).toEqual({ code: 0, output });
});
