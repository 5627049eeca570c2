import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { countWords, mostFrequentWords } from "../../examples/text-analysis/src/words.js";
import { outputOf } from "./markdown.js";
import { expectOutput, runExample } from "./program.js";

const folder = mkdtempSync(path.join(tmpdir(), "text-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the output without parts that depend on timing: progress, rows of processes, and units of the throughput. */
const plain = (text: string) =>
  text
    .replace(/^ +\d+ % .*\n/gm, "")
    .replace(/^\d [\d,. KMB]+$/gm, "process")
    .replace(/ [KM]?B and /, " KB and ");

beforeAll(() => {
  mkdirSync(path.join(folder, "inner/.hidden"), { recursive: true });
  writeFileSync(path.join(folder, "a.txt"), "The quick brown fox.\nIt's the fox's den, isn't it? ÄÖÜ äöü\n");
  writeFileSync(path.join(folder, "inner/b.md"), "# Fox\n\nquick QUICK quick\n");
  writeFileSync(path.join(folder, "inner/.hidden/c.md"), "never read\n");
  writeFileSync(path.join(folder, "empty.txt"), "");
  writeFileSync(path.join(folder, "data.bin"), new Uint8Array(100));
});

test("text analysis: the program counts lines and words of files and folders, and lists frequent words", async () => {
  const { code, stdout, stderr } = await runExample("text-analysis", ["."], folder);
  expect(stderr).toBe("");
  expectOutput(
    plain(stdout),
    `
skipped: empty.txt: empty
started 4 processes in <n> s
skipped: data.bin: not text

process    pieces       lines         words       size
process
process
process
process
all             2           5            16       90 B

most frequent words           with six letters or more
quick                    4
fox                      2
the                      2
äöü                      2
brown                    1
den                      1
fox's                    1
isn't                    1
it                       1
it's                     1

2 files in <n> s: <n> KB and <n> words a second`,
  );
  expect(code).toBe(0);
});

test("text analysis: without arguments the program reads the documentation, as its page shows", async () => {
  const { code, stdout, stderr } = await runExample("text-analysis");
  expect(stderr).toBe("");
  const output = `
started 4 processes in <n> s

process    pieces       lines         words       size
process
process
process
process
`;
  expect(code).toBe(0);
  for (const text of [stdout, outputOf("docs/examples/text-analysis.md")]) {
    const [table = "", rest = ""] = plain(text).split(/^all .*\n/m);
    expectOutput(table, output);
    expect(rest).toContain("\nmost frequent words           with six letters or more\n");
    expect(rest.trim().split("\n").at(-1)).toMatch(/^\d+ files in [\d.]+ s: [\d.]+ [KM]B and [\d,]+ words a second$/);
    expect(text).toMatch(/^ {2}100 % {2}([\d.]+ [KM]B) of \1$/m);
  }
});

test("text analysis: a big file is split into pieces, and no word is split", async () => {
  const file = path.join(folder, "big.log");
  const line = "grün größer ßtraße word\n";
  writeFileSync(file, line.repeat(200_000));
  const { code, stdout } = await runExample("text-analysis", [file]);
  expect(stdout).toMatch(/^all +6 +200,000 +800,000 +5.8 MB$/m);
  for (const word of ["grün", "größer", "ßtraße", "word"]) {
    expect(stdout).toMatch(new RegExp(`^${word} +200,000`, "m"));
  }
  expect(stdout).toMatch(/^1 file in /m);
  expect(code).toBe(0);
});

test("text analysis: missing files are reported, other files are analysed, and the exit code is 1", async () => {
  symlinkSync("nowhere", path.join(folder, "dangling"));
  const { code, stdout, stderr } = await runExample("text-analysis", ["missing", "dangling", "a.txt"], folder);
  expect(stderr).toBe(
    "cannot read missing: there is no such file or folder\ncannot read dangling: there is no such file or folder\n",
  );
  expect(stdout).toMatch(/^all +1 +2 /m);
  expect(code).toBe(1);
});

test.each(["empty.txt", "data.bin"])("text analysis: with %s alone there is nothing to analyse", async (file) => {
  const { code, stdout, stderr } = await runExample("text-analysis", [file], folder);
  expect(stderr).toBe("nothing to analyse\n");
  expect(stdout).toContain(`skipped: ${file}: `);
  expect(code).toBe(1);
});

test("text analysis: words are sequences of letters and digits, counted without regard to case", () => {
  const table = new Map<string, number>();
  expect(countWords("Don't 'quote' ES2023; x-y ’tis ", table)).toBe(6);
  expect([...table]).toEqual([
    ["don't", 1],
    ["quote", 1],
    ["es2023", 1],
    ["x", 1],
    ["y", 1],
    ["tis", 1],
  ]);
  expect(mostFrequentWords(table, 2, 4)).toEqual([
    { word: "don't", count: 1 },
    { word: "es2023", count: 1 },
  ]);
});
