import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { outputOf } from "./markdown.js";
import { root, run, runExample } from "./program.js";

let folder: string;
const at = (name: string) => path.join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "external-sort-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Sorts a file by `sort` of coreutils. */
function sorted(file: string): Buffer {
  const env = { ...process.env, LC_ALL: "C" };
  return execFileSync("sort", [file], { env, maxBuffer: 2 ** 30 });
}

test("a file that is larger than the memory of the sort is sorted as by `sort`, as the page shows", async () => {
  const maker = [path.join(root, "examples/external-sort/src/make-lines.ts"), at("lines.txt"), "100MB"];
  expect((await run(process.execPath, ["--import", "tsx", ...maker], root)).code).toBe(0);
  const { code, stdout, stderr } = await runExample("external-sort", [
    at("lines.txt"),
    at("sorted.txt"),
    ...["--memory", "32MiB", "--folder", folder],
  ]);
  expect([code, stdout.trim()]).toEqual([0, outputOf("docs/examples/external-sort.md")]);
  expect(stderr).toMatch(/^in \d+\.\d s, \d+ MB\/s$/m);
  expect(readFileSync(at("sorted.txt")).equals(sorted(at("lines.txt")))).toBe(true);
});

const strange = [
  "\n\n\ta\na\tb\na\n\na\0\na\n",
  "\xff\xfe\n\x80\n\x7f\n",
  ...Array.from({ length: 2000 }, (_, i) => `${"same ".repeat(i % 40)}${i % 7}\n`),
  `${"x".repeat(300_000)}\n${"w".repeat(299_999)}\nb\n`,
  "equal\n".repeat(50_000),
  "the last line has no end",
];

test.each([
  ["no line", ""],
  ["control characters, bytes of no text, long lines, lines that begin alike, and equal ones", strange.join("")],
])("a file with %s is sorted", async (_what, text) => {
  writeFileSync(at("input"), Buffer.from(text, "latin1"));
  const { code, stderr } = await runExample("external-sort", [at("input"), at("output"), "--memory", "1MiB"]);
  expect([code, stderr.replace(/^in .*\n/m, "")]).toEqual([0, ""]);
  expect(readFileSync(at("output")).equals(sorted(at("input")))).toBe(true);
});

test("wrong arguments are errors that say what to do", async () => {
  const usage = "usage: main.ts INPUT OUTPUT [--memory 1GiB] [--processes 3] [--folder /var/tmp]\n";
  expect(await runExample("external-sort", [])).toMatchObject({ code: 2, stderr: usage });
  writeFileSync(at("input"), "b\na\n");
  symlinkSync(at("input"), at("link"));
  expect(await runExample("external-sort", [at("input"), at("link")])).toMatchObject({
    code: 2,
    stderr: `cannot sort ${at("input")} in place: name another file for the output\n`,
  });
  expect(readFileSync(at("input"), "utf8")).toBe("b\na\n");
  const unit = await runExample("external-sort", [at("input"), at("output"), "--memory", "1 parsec"]);
  expect(unit.code).toBe(1);
  expect(unit.stderr).toContain('expected a size such as 512MiB or 8GB, got "1 parsec"');
});
