/** Checks that the script for the lists of equivalent mutants finds entries whose file or line does not exist. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, expect, test } from "vitest";

const script = path.resolve(import.meta.dirname, "../../.ci/mutate/equivalent-mutants.mjs");
const trees: string[] = [];

afterEach(() => {
  for (const tree of trees.splice(0)) rmSync(tree, { recursive: true, force: true });
});

/** Checks a list of entries against one source file, `runtime/wire/a.ts`. */
function check(...entries: readonly { readonly file: string; readonly line: string }[]) {
  const tree = mkdtempSync(path.join(tmpdir(), "viceroy-equivalent-"));
  trees.push(tree);
  mkdirSync(path.join(tree, ".ci/mutate/equivalent"), { recursive: true });
  mkdirSync(path.join(tree, "runtime/wire"), { recursive: true });
  writeFileSync(path.join(tree, "runtime/wire/a.ts"), "export function f() {\n  return 1;\n}\n");
  const list = entries.map((entry) => ({ ...entry, reason: "Both values are equal." }));
  writeFileSync(path.join(tree, ".ci/mutate/equivalent/runtime-wire.json"), JSON.stringify(list));
  const { status, stderr } = spawnSync(process.execPath, [script, "--tree", tree], { encoding: "utf8" });
  return { status, lines: stderr.split("\n").slice(0, -1) };
}

test("an entry that names an existing line passes", () => {
  expect(check({ file: "runtime/wire/a.ts", line: "return 1;" })).toEqual({ status: 0, lines: [] });
});

test("an entry whose line has changed, or whose file has moved, fails with its name", () => {
  const changed = { file: "runtime/wire/a.ts", line: "return 2;" };
  const moved = { file: "runtime/wire/b.ts", line: "return 1;" };
  expect(check(changed, moved)).toEqual({
    status: 1,
    lines: [
      "cannot use an entry of runtime-wire.json: there is no such line, got runtime/wire/a.ts: return 2;",
      "cannot use an entry of runtime-wire.json: there is no such file, got runtime/wire/b.ts: return 1;",
      "Read the line as it is now and correct the entry, or delete it if its code is gone.",
    ],
  });
});
