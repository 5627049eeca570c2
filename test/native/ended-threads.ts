/** Tests of addons in threads that end. The process and its other threads must continue, or end normally. */
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type AddonName, addonFile, addonVariable } from "../../native/addon-location.js";
import { run } from "../examples/program.js";

const programOf = (name: string) => fileURLToPath(new URL(`programs/${name}.mjs`, import.meta.url));
const ends = ["terminated", "exited", "returned", "program-exits", "program-ends"];

/** @param there whether the addon is built */
export function testEndedThreads(name: AddonName, there: boolean): void {
  const file = process.env[addonVariable(name)] ?? addonFile(name);
  const runProgram = (program: string, ...args: string[]) =>
    run(process.execPath, [programOf(program), ...args], tmpdir());

  test.skipIf(!there)("rejects the calls of a thread that is being terminated, and ends nothing else", async () => {
    expect(await runProgram("ended-threads", file)).toEqual({ code: 0, stdout: "30\n", stderr: "" });
  });

  describe.each(["main", "threads"])("loaded by %s first", (first) => {
    test.skipIf(!there).each(ends)("keeps the process running when busy threads end: %s", async (end) => {
      const outcome = await runProgram("busy-threads", name, file, addonFile("stack"), first, end);
      expect(outcome).toEqual({ code: 0, stdout: "ended\n", stderr: "" });
    });
  });
}
