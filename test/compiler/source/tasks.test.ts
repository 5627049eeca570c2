import { expect, test } from "vitest";
import type { TaskDeclaration } from "../../../compiler/model/index.js";
import { readFiles, readText, show } from "./read.js";

function tasksOf(text: string): readonly TaskDeclaration[] {
  return readText(text).modules.flatMap(({ tasks }) => tasks);
}

function signature({ name, args, result }: TaskDeclaration): string {
  const shown = args.map((arg) => `${arg.name}${arg.optional ? "?" : ""}: ${show(arg.type)}`);
  return `${name}(${shown.join(", ")}): ${result === undefined ? "void" : show(result)}`;
}

/** The codes and texts of the problems of a schema. */
function problemsOf(text: string): readonly string[] {
  const { diagnostics } = readFiles({
    "schemas/a.ts": `import type { Actor, Stream, Task, Uint32 } from "viceroy/schema";\n${text}`,
  });
  return diagnostics.map((found) => `${found.code} ${found.text}`);
}

test("the arguments and the result of a task are read from its interface", () => {
  const tasks = tasksOf(`
    /** Counts words. */
    export interface CountWords extends Task<[text: string, shortest?: Uint32], Map<string, Uint32>> {}
    export interface Sweep extends Task {}
    export interface Log extends Task<[string, number]> {}
    export interface Wait extends Task<[until: Date], void> {}
    export interface Cut extends Task<Arguments, { left: Line; right: Line | null }> {}
    export interface Maybe extends Task<[value: Uint32 | undefined]> {}
    export interface Line { from: number; to: number }
    type Arguments = [line: Line, at: number];
  `);
  expect(tasks.map(signature)).toEqual([
    "CountWords(text: string, shortest?: uint32): map<string, uint32>",
    "Sweep(): void",
    "Log(arg1: string, arg2: double): void",
    "Wait(until: date): void",
    "Cut(line: Line, at: double): { left: Line; right: Line | null }",
    "Maybe(value?: uint32): void",
  ]);
  expect(tasks[0]?.doc).toBe("Counts words.");
  expect(tasks[0]?.key).toBe("schemas/a.ts#CountWords");
});

test("a task is neither a type nor an actor, and its types are reached through it", () => {
  const [module] = readText(`
    export interface Square extends Task<[box: Box], Area> {}
    interface Box { side: number }
    interface Area { size: number }
  `).modules;
  expect(module?.types.map(({ name }) => name)).toEqual(["Box", "Area"]);
  expect(module?.actors).toEqual([]);
});

test("a task can be idempotent, and has no other tag of endpoints", () => {
  const marked = (tag: string) => `/** Squares. ${tag} */ export interface Square extends Task<[n: number], number> {}`;
  expect(tasksOf(marked("\n * @idempotent\n"))[0]).toMatchObject({ idempotent: true, doc: "Squares." });
  expect(tasksOf(marked(""))[0]?.idempotent).toBe(false);
  const misplaced = (tag: string, where: string) => [
    `VC1302 @${tag.split(" ")[0]} does not apply to a task`,
    `Remove the tag, or move it to ${where}.`,
  ];
  const members = "a field or an endpoint or a value of an enum";
  const tags = [
    ["concurrent 8", "an endpoint"],
    ["timeout 5s", "an endpoint"],
    ["respond", "an endpoint"],
    ["reduce sum", "an endpoint"],
    ["propagate", "an endpoint"],
    ["id 7", members],
    ["was Cube", members],
    ["name square", members],
    ["retired", "a field or an endpoint"],
    ["reserved 4", "a type"],
  ] as const;
  for (const [tag, where] of tags) {
    const { diagnostics } = readFiles({
      "schemas/a.ts": `import type { Task } from "viceroy/schema";\n${marked(`\n * @${tag}\n`)}`,
    });
    expect(diagnostics.map(({ code, text, fix }) => [`${code} ${text}`, fix])).toEqual([misplaced(tag, where)]);
  }
});

test("arguments that are not passed one by one are refused", () => {
  expect(problemsOf("export interface Sum extends Task<[first: number, ...more: number[]], number> {}")).toEqual([
    "VC1209 task Sum has a rest parameter: ...more",
  ]);
  expect(problemsOf("export interface Sum extends Task<readonly number[], number> {}")).toEqual([
    "VC1226 cannot express the arguments of task Sum: readonly number[] is not an explicit tuple",
  ]);
});

test("types that cannot be sent are refused in arguments and results", () => {
  expect(problemsOf("export interface Run extends Task<[code: () => void], any> {}")).toEqual([
    "VC1102 cannot send a function: () => void",
    "VC1101 cannot send any: it does not describe its values",
  ]);
  expect(problemsOf("export interface Run extends Task<[items: Stream<Uint32>]> {}")).toEqual([
    "VC1115 cannot send Stream<Uint32> as a value: only endpoints return streams",
  ]);
});

test("a task of another file is refused as a value, as a mesh and as a base", () => {
  const { diagnostics } = readFiles({
    "schemas/a.ts":
      'import type { Task } from "viceroy/schema";\nexport interface Square extends Task<[n: number], number> {}\n',
    "schemas/b.ts": `import type { Actor, Mesh } from "viceroy/schema";
import type { Square } from "./a.js";
export interface Plan { steps: Square[] }
export interface Cube extends Square {}
export interface Runner extends Actor { run(what: Square): void }
export type All = Mesh<Square>;
`,
  });
  expect(diagnostics.map(({ code, text }) => `${code} ${text}`)).toEqual([
    "VC1124 cannot send Square: a task is a function and not a value",
    "VC1223 task Cube extends Square: a task extends `Task` and nothing else",
    "VC1124 cannot send Square: a task is a function and not a value",
    "VC1117 cannot make a mesh of Square: it is not an actor",
  ]);
});

test("a forgotten import of Task is reported with the line to add", () => {
  const { diagnostics } = readFiles({
    "schemas/a.ts": "export interface Square extends Task<[n: number], number> {}\n",
  });
  expect(diagnostics.map(({ code, text, fix }) => [code, text, fix])).toEqual([
    ["VC1006", expect.stringContaining("Task"), expect.stringContaining('import type { Task } from "viceroy/schema"')],
  ]);
});
