/**
 * The getting-started guide, followed to the letter in a folder of its own: files are written where it says so, the
 * commands marked `<!-- run -->` are run, and what they print is compared with the text that follows.
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { readPage } from "./markdown.js";
import { root, run } from "./program.js";

const folder = mkdtempSync(path.join(tmpdir(), "guide-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("who follows the guide has an actor of their own at the end", async () => {
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

/** What `npm install` would leave behind. */
function installInto(folder: string): void {
  const modules = path.join(folder, "node_modules");
  mkdirSync(path.join(modules, ".bin"), { recursive: true });
  symlinkSync(root, path.join(modules, "viceroy"));
  for (const name of ["tsx", "typescript", "@types"]) {
    symlinkSync(path.join(root, "node_modules", name), path.join(modules, name));
  }
  symlinkSync(path.join(root, "dist/cli/viceroy.js"), path.join(modules, ".bin/viceroy"));
  for (const name of ["tsx", "tsc"]) {
    symlinkSync(path.join(root, "node_modules/.bin", name), path.join(modules, ".bin", name));
  }
}

function write(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}
