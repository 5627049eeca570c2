/** Tasks of schemas: a project is compiled, and its program runs the tasks in worker processes. */
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { transformSync } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compile } from "../../compiler/cli/commands/compile.js";
import { Project } from "../../compiler/cli/project.js";
import { folderWith, listFiles, TestIo } from "../compiler/folder.js";

const files = {
  "package.json": '{ "name": "shop", "type": "module" }',
  "viceroy.config.ts":
    'import { defineConfig } from "viceroy/compiler";\nexport default defineConfig({ schemas: "schemas/**/*.ts" });\n',
  "schemas/texts.ts": `import type { Task, Uint32 } from "viceroy/schema";

export interface Count { word: string; times: Uint32 }
/** @idempotent */
export interface CountWords extends Task<[text: string, shortest?: Uint32, longest?: Uint32], Count[]> {}
export interface Common extends Task<[first: Count[], second: Count[]], string[]> {}
export interface Broken extends Task<[], Uint32> {}
export interface Sweep extends Task {}
`,
  "src/texts.ts": `import { task } from "viceroy/tasks";
import { BrokenTask, CommonTask, CountWordsTask, SweepTask } from "../generated/texts.js";

export const countWords = task(import.meta.url, "countWords", CountWordsTask, (text, shortest = 1, longest = 99) => {
  const times = new Map<string, number>();
  for (const word of text.split(" ")) {
    if (word.length >= shortest && word.length <= longest) times.set(word, (times.get(word) ?? 0) + 1);
  }
  return [...times].map(([word, count]) => ({ word, times: count }));
});
export const common = task(import.meta.url, "common", CommonTask, async (first, second) => {
  const others = new Set(second.map(({ word }) => word));
  return [String(process.pid), ...first.map(({ word }) => word).filter((word) => others.has(word))];
});
export const broken = task(import.meta.url, "broken", BrokenTask, () => -1);
export const sweep = task(import.meta.url, "sweep", SweepTask, async () => {});
`,
  "src/main.ts": `import { JobContext } from "viceroy/tasks";
import { broken, common, countWords, sweep } from "./texts.js";

const context = await JobContext.open({ procs: 2 });
const errorOf = async (run: () => Promise<unknown>) => {
  try {
    return { result: await run() };
  } catch (error) {
    return (error as Error).message;
  }
};
const wrong = countWords as never as Parameters<typeof context.run>[0];
const first = context.run(countWords, "a bee saw a sea");
const second = context.run(countWords, "the sea saw me", undefined, 3);
const [pid, ...words] = await context.get(context.run(common, first, second));
const results = {
  idempotent: [countWords.idempotent, common.idempotent],
  counts: await context.get(first),
  shortest: await context.get(context.run(countWords, "a bee saw a sea", 3)),
  longest: await context.get(context.run(countWords, "a bee saw a sea", undefined, 2)),
  words,
  isOtherProcess: Number(pid) !== process.pid,
  sweep: String(await context.get(context.run(sweep))),
  broken: await errorOf(() => context.get(context.run(broken))),
  missing: await errorOf(async () => context.run(wrong)),
  undefined: await errorOf(async () => context.run(wrong, undefined)),
  number: await errorOf(async () => context.run(wrong, 7)),
  more: await errorOf(async () => context.run(wrong, "a", 1, 2, 3)),
  negative: await errorOf(async () => context.run(countWords, "a", -1)),
};
await context.close();
console.log(JSON.stringify(results));
`,
};

let folder: string;

beforeAll(async () => {
  folder = folderWith(files);
  const io = new TestIo();
  const code = await compile(new Project(folder), { check: false, json: false, draft: false }, io);
  expect([code, io.errors]).toEqual([0, []]);
  for (const name of listFiles(folder).filter((file) => /^(src|generated)\/.*\.ts$/.test(file))) {
    const file = path.join(folder, name);
    const { code: script } = transformSync(readFileSync(file, "utf8"), { loader: "ts", target: "node20" });
    writeFileSync(
      file.replace(/\.ts$/, ".js"),
      script.replace(/"(viceroy\/[\w/]+)"/g, (_, name) => `"${import.meta.resolve(name)}"`),
    );
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("tasks of a schema run in worker processes, with optional arguments, and pass their results on", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["src/main.js"], { cwd: folder, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const integer = "invalid uint32: expected an integer from 0 to 4294967295, got -1";
  expect(JSON.parse(stdout)).toEqual({
    idempotent: [true, false],
    counts: [
      { word: "a", times: 2 },
      { word: "bee", times: 1 },
      { word: "saw", times: 1 },
      { word: "sea", times: 1 },
    ],
    shortest: [
      { word: "bee", times: 1 },
      { word: "saw", times: 1 },
      { word: "sea", times: 1 },
    ],
    longest: [{ word: "a", times: 2 }],
    words: ["saw", "sea"],
    isOtherProcess: true,
    sweep: "undefined",
    broken: `cannot return from broken: the result: cannot encode uint32: ${integer}`,
    missing: "cannot run countWords: expected 1 to 3 arguments (text, shortest, longest), got 0",
    undefined:
      "cannot run countWords: argument 1: cannot encode string: invalid string: expected a string, got undefined",
    number: "cannot run countWords: argument 1: cannot encode string: invalid string: expected a string, got 7",
    more: "cannot run countWords: expected 1 to 3 arguments (text, shortest, longest), got 4",
    negative: `cannot run countWords: argument 2: cannot encode uint32: ${integer}`,
  });
});
