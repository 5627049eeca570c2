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
  "schemas/texts.ts": `import type { Float32, Int32, Int64, ObjectRef, Task, Uint32, Uint64 } from "viceroy/schema";

export interface Count { word: string; times: Uint32 }
/** @idempotent */
export interface CountWords extends Task<[text: string, shortest?: Uint32, longest?: Uint32], Count[]> {}
export interface Common extends Task<[first: Count[], second: Count[]], string[]> {}
export interface Broken extends Task<[], Uint32> {}
export interface Sweep extends Task {}

export type Paint = "red" | "green" | "blue";
export interface Point { x: number; y: number }
export interface Shape { name: string; paint?: Paint; corners: Point[]; area: number | null; made: Date }
export interface Everything {
  yes: boolean; small: Int32; big: Uint64; signed: Int64; half: Float32; text: string; bytes: Uint8Array;
  floats: Float64Array; counts: Record<string, Uint32>; shape: Shape; paints: Paint[]; nothing: string | null;
}
export interface Echo extends Task<[value: Everything], Everything> {}
export interface TotalArea extends Task<[shapes: Shape[], factor?: number], number> {}
export interface Corner extends Task<[shape: Shape, index: Uint32], Point | null> {}
export interface Wrong extends Task<[kind: string], Shape> {}

export interface Box { name: string; parts: ObjectRef<Uint8Array>[] }
export interface Fill extends Task<[sizes: Uint32[], padding: Uint32], Box> {}
export interface SizesOf extends Task<[box: Box], Uint32[]> {}
export interface TotalSize extends Task<[parts: ObjectRef<Uint8Array>[]], Uint32> {}
`,
  "src/texts.ts": `import { JobContext, task } from "viceroy/tasks";
import { BrokenTask, CommonTask, CornerTask, CountWordsTask, EchoTask, FillTask, SizesOfTask, SweepTask, TotalAreaTask, TotalSizeTask, WrongTask } from "../generated/texts.js";

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
export const echo = task(import.meta.url, "echo", EchoTask, (value) => value);
export const totalArea = task(import.meta.url, "totalArea", TotalAreaTask, (shapes, factor = 1) =>
  shapes.reduce((sum, { area }) => sum + (area ?? 0) * factor, 0),
);
export const corner = task(import.meta.url, "corner", CornerTask, ({ corners }, index) => corners[index] ?? null);
export const fill = task(import.meta.url, "fill", FillTask, (sizes, padding) => {
  const parts = sizes.map((size) => JobContext.current().put<Uint8Array>(new Uint8Array(size).fill(7)));
  return { name: "x".repeat(padding), parts };
});
export const sizesOf = task(import.meta.url, "sizesOf", SizesOfTask, async ({ parts }) =>
  Promise.all(parts.map(async (part) => (await part.get()).length)),
);
export const totalSize = task(import.meta.url, "totalSize", TotalSizeTask, async (parts) =>
  (await Promise.all(parts.map((part) => part.get()))).reduce((sum, { length }) => sum + length, 0),
);
export const wrong = task(import.meta.url, "wrong", WrongTask, (kind) => {
  const shape = { name: "s", corners: [{ x: 1, y: 2 }], area: null, made: new Date(0) };
  const corners = [{ x: 1, y: 2 }, { x: "1", y: 2 }];
  return { missing: {}, deep: { ...shape, corners }, paint: { ...shape, paint: "pink" }, none: undefined }[kind] as never;
});
`,
  "src/boxes.ts": `import { setTimeout as sleep } from "node:timers/promises";
import { JobContext } from "viceroy/tasks";
import { fill, sizesOf, totalSize } from "./texts.js";

const context = await JobContext.open({ procs: 2, isolation: process.argv[2] as "inline" });
const collect = async () => {
  for (let i = 0; i < 5; i++) {
    await sleep(10);
    gc!();
  }
};
const results = [];
for (const padding of [1, 100_000]) {
  const box = context.run(fill, [3, 200_000], padding);
  await collect();
  const sizes = await context.get(context.run(sizesOf, box));
  await collect();
  const { name, parts } = await context.get(box);
  await collect();
  const total = await context.get(context.run(totalSize, parts));
  const again = (await context.get(box)).parts.map((part) => part.get());
  const read = (await Promise.all(again)).map((bytes) => [bytes.length, bytes.at(-1)]);
  for (const part of parts) part.release();
  results.push({ name: name.length, sizes, total, read });
}
await context.close();
console.log(JSON.stringify(results));
`,
  "src/kinds.ts": `import { isDeepStrictEqual } from "node:util";
import { JobContext } from "viceroy/tasks";
import { corner, echo, totalArea, wrong } from "./texts.js";

const context = await JobContext.open({ procs: 2, isolation: process.argv[2] as "inline" });
const errorOf = async (run: () => Promise<unknown>) => {
  try {
    return { result: await run() };
  } catch (error) {
    return (error as Error).message;
  }
};
const shape = { name: "square", paint: "red", corners: [{ x: 0, y: 0 }, { x: 0.5, y: -1 }], area: 4, made: new Date(1000) } as const;
const everything = {
  ...{ yes: true, small: -128, big: 2n ** 64n - 1n, signed: -(2n ** 63n), half: 0.5, text: "\\u{1F600} \\u0000", nothing: null },
  ...{ bytes: Uint8Array.of(0, 255), floats: Float64Array.of(Number.NaN, -0), counts: { a: 1, b: 2 }, paints: ["red", "blue"] },
  shape: { ...shape, area: null },
};
const got = (await context.get(context.run(echo, everything as never))) as typeof everything;
const refused = (change: object) => errorOf(async () => context.run(echo, { ...everything, ...change } as never));
const first = context.run(corner, shape, 1);
const results = {
  isEqual: isDeepStrictEqual({ ...got }, everything),
  isCopy: got.shape !== everything.shape,
  area: await context.get(context.run(totalArea, [shape, { ...shape, area: 1 }], 2)),
  corner: await context.get([first, context.run(corner, shape, 2)]),
  refused: [
    await refused({ small: 2 ** 31 }),
    await refused({ big: 1 }),
    await refused({ shape: { ...shape, paint: "pink" } }),
    await refused({ counts: { a: -1 } }),
    await refused({ bytes: [0, 255] }),
    await refused({ paints: ["red", 7] }),
    await refused({ yes: "yes" }),
  ],
  wrongArgument: await errorOf(() => context.get(context.run(totalArea, first as never))),
  wrong: await Promise.all(["missing", "deep", "paint", "none"].map((kind) => errorOf(() => context.get(context.run(wrong, kind))))),
};
await context.close();
console.log(JSON.stringify(results));
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

test.each(["inline", "process"])(
  "all kinds of values reach tasks of a schema with isolation %s, and wrong ones are named",
  (isolation) => {
    const run = spawnSync(process.execPath, ["src/kinds.js", isolation], { cwd: folder, encoding: "utf8" });
    expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: "" });
    expect(JSON.parse(run.stdout)).toEqual({
      isEqual: true,
      isCopy: true,
      area: 10,
      corner: [{ x: 0.5, y: -1 }, null],
      refused: [
        "small: invalid int32: expected an integer from -2147483648 to 2147483647, got 2147483648",
        "big: invalid uint64: expected a bigint from 0 to 18446744073709551615, got 1",
        'shape.paint: invalid Paint: expected "red", "green" or "blue", got "pink"',
        'counts["a"]: invalid uint32: expected an integer from 0 to 4294967295, got -1',
        "bytes: invalid bytes: expected a Uint8Array, got an array of 2",
        'paints[1]: invalid Paint: expected "red", "green" or "blue", got 7',
        'yes: invalid boolean: expected true or false, got "yes"',
      ].map((text) => `cannot run echo: argument 1: cannot encode Everything.${text}`),
      wrongArgument:
        "cannot run totalArea: argument 1: cannot encode Shape[]: invalid array: expected an array, got an object",
      wrong: [
        ".name: invalid string: expected a string, got undefined",
        '.corners[1].x: invalid double: expected a number, got "1"',
        '.paint: invalid Paint: expected "red", "green" or "blue", got "pink"',
        ": invalid Shape: expected an object, got undefined",
      ].map((text) => `cannot return from wrong: the result: cannot encode Shape${text}`),
    });
  },
);

test.each(["inline", "process"])(
  "references in the result of a task of a schema are kept, read and passed on, with isolation %s",
  (isolation) => {
    const args = ["--expose-gc", "src/boxes.js", isolation];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const read = [
      [3, 7],
      [200_000, 7],
    ];
    expect(JSON.parse(stdout)).toEqual(
      [1, 100_000].map((name) => ({ name, sizes: [3, 200_000], total: 200_003, read })),
    );
  },
);
