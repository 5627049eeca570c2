/**
 * Follows the getting-started guide to the letter in a folder of its own: writes the files that it names, runs the
 * commands marked `<!-- run -->`, and compares their output with the text that follows.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { readPage } from "./markdown.js";
import { run } from "./program.js";
import { installInto, write } from "./project.js";

const folder = mkdtempSync(path.join(tmpdir(), "guide-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the steps of the getting-started guide work, and the resulting project passes the type checker", async () => {
  installInto(folder);
  const { fences } = readPage("docs/tutorial/getting-started.md");
  let ran = 0;
  for (const [i, { language, code, mark, line }] of fences.entries()) {
    const [, file] = /^\/\/ ([\w./-]+\.ts)\n/.exec(code) ?? [];
    if (file !== undefined) write(path.join(folder, file), code.slice(code.indexOf("\n") + 1));
    if (language !== "sh" || mark !== "run") continue;
    const outcome = await run("/bin/sh", ["-ec", code], folder);
    expect(outcome, `docs/tutorial/getting-started.md:${line} ${outcome.stderr}`).toMatchObject({ code: 0 });
    const shown = fences[i + 1];
    if (shown?.language === "text") expect(outcome.stdout.trim()).toBe(shown.code.trim());
    ran++;
  }
  expect(ran).toBeGreaterThan(5);
  const types = await run("npx", ["tsc", "-p", ".", "--noEmit"], folder);
  expect(types.stdout).toBe("");
});
