/** Tests of addons in threads that end: the process and its other threads live on, or end as they should. */
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type AddonName, addonFile, addonVariable } from "../../native/addon-location.js";
import { run } from "../examples/program.js";

const programOf = (name: string) => fileURLToPath(new URL(`programs/${name}.mjs`, import.meta.url));
const ends = ["terminated", "exited", "returned", "program-exits", "program-ends"];

/** @param there whether the addon has been built */
export function testEndedThreads(name: AddonName, there: boolean): void {
  const file = process.env[addonVariable(name)] ?? addonFile(name);
  const runProgram = (program: string, ...args: string[]) =>
    run(process.execPath, [programOf(program), ...args], tmpdir());

  test.skipIf(!there)("refuses what a thread asks that is being ended, and ends nothing else", async () => {
    expect(await runProgram("ended-threads", file)).toEqual({ code: 0, stdout: "30\n", stderr: "" });
  });

  describe.each(["main", "threads"])("loaded by %s first", (first) => {
    test.skipIf(!there).each(ends)("outlives busy threads that are ended like this: %s", async (end) => {
      const outcome = await runProgram("busy-threads", name, file, first, end);
      expect(outcome).toEqual({ code: 0, stdout: "ended\n", stderr: "" });
    });
  });
}
