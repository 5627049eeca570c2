/** The blocks of tasks in the lock: the ids of their arguments. */
import { expect, test } from "vitest";
import { assignIds, type Lock, parseLock, printLock } from "../../../compiler/lock/index.js";
import { lockHeaderFormat2 } from "../../../compiler/lock/print.js";
import type { Parameter, Schema, TaskDeclaration, Type } from "../../../compiler/model/index.js";
import { merge, text } from "./merged.js";
import { at, field, int32, message, param, schema, string } from "./schema.js";

function task(name: string, args: readonly Parameter[], result?: Type, file = "schemas/a.ts"): TaskDeclaration {
  const declared = { key: `${file}#${name}`, name, doc: "", args, idempotent: false, at };
  return result === undefined ? declared : { ...declared, result };
}

function withTasks(...tasks: readonly TaskDeclaration[]): Schema {
  return schema([], [], "schemas/a.ts", tasks);
}

function locked(...versions: readonly Schema[]): Lock {
  let lock: Lock | undefined;
  for (const version of versions) {
    const { lock: next, problems } = assignIds(version, lock);
    expect(problems).toEqual([]);
    const parsed = parseLock("viceroy.lock", printLock(next));
    expect(parsed.problems).toEqual([]);
    lock = parsed.lock;
  }
  return lock as Lock;
}

function lines(lock: Lock): readonly string[] {
  return printLock(lock).trimEnd().split("\n").slice(1);
}

const head = "task Cut in schemas/a next=1";

test("a task has a block with the ids and types of its arguments and the type of its result", () => {
  const cut = task("Cut", [param("line"), { ...param("parts", int32), optional: true }], string);
  const lock = locked(withTasks(cut, task("Sweep", [])));
  expect(lines(lock)).toEqual([
    head,
    "  0 run next=3 (1 line: string, 2 parts: int32?) -> string",
    "task Sweep in schemas/a next=1",
    "  0 run next=1 () -> void",
  ]);
  expect(printLock(lock).startsWith(lockHeaderFormat2)).toBe(true);
  const { schema: assigned } = assignIds(withTasks(cut), lock);
  expect(assigned.modules[0]?.tasks[0]?.args.map(({ id }) => id)).toEqual([1, 2]);
});

test("arguments keep their ids, and removed ones stay as tombstones", () => {
  const before = withTasks(task("Cut", [param("line"), param("parts", int32)]));
  const removed = withTasks(task("Cut", [param("parts", int32)]));
  const added = withTasks(task("Cut", [param("parts", int32), param("line")]));
  expect(lines(locked(before, removed))).toEqual([head, "  0 run next=3 (1 -line: string, 2 parts: int32) -> void"]);
  expect(lines(locked(before, removed, added))).toEqual([
    head,
    "  0 run next=4 (1 -line: string, 2 parts: int32, 3 line: string) -> void",
  ]);
});

test("an argument with another name at the same position and of the same type is the same argument", () => {
  const before = withTasks(task("Cut", [param("line"), param("parts", int32)]));
  const renamed = withTasks(task("Cut", [param("line"), param("count", int32)]));
  expect(lines(locked(before, renamed))).toEqual([head, "  0 run next=3 (1 line: string, 2 count: int32) -> void"]);
});

test("a removed task leaves a tombstone, which a task of the same name revives", () => {
  const before = withTasks(task("Cut", [param("line")]));
  expect(lines(locked(before, withTasks()))).toEqual([`-${head}`, "  0 run next=2 (1 line: string) -> void"]);
  expect(lines(locked(before, withTasks(), before))).toEqual([head, "  0 run next=2 (1 line: string) -> void"]);
});

test("a task that moves to another file keeps its block", () => {
  const before = withTasks(task("Cut", [param("line"), param("parts", int32)]));
  const after = schema([], [], "schemas/b.ts", [task("Cut", [param("parts", int32)], undefined, "schemas/b.ts")]);
  expect(lines(locked(before, after))).toEqual([
    "task Cut in schemas/b next=1",
    "  0 run next=3 (1 -line: string, 2 parts: int32) -> void",
  ]);
});

test("inline types of arguments and results have blocks of their own, also when an argument is renamed", () => {
  const inline = (name: string): Type => ({ kind: "inline", shape: { kind: "message", fields: [field(name, int32)] } });
  const before = withTasks(task("Cut", [param("line", inline("from"))], inline("rest")));
  const after = withTasks(task("Cut", [param("whole", inline("from"))], inline("rest")));
  const blocks = (argument: string) => [
    head,
    `  0 run next=2 (1 ${argument}: message) -> message`,
    "message Cut()-> in schemas/a next=2",
    "  1 rest int32",
    `message Cut().${argument} in schemas/a next=2`,
    "  1 from int32",
  ];
  expect(lines(locked(before))).toEqual(blocks("line"));
  expect(lines(locked(before, after))).toEqual(blocks("whole"));
});

test("a task and a type of one name have separate blocks", () => {
  const both = schema([message("Cut", field("a"))], [], "schemas/a.ts", [task("Cut", [param("line")])]);
  expect(lines(locked(both))).toEqual([
    "message Cut in schemas/a next=2",
    "  1 a string",
    head,
    "  0 run next=2 (1 line: string) -> void",
  ]);
});

test("a merge keeps the arguments that both branches have added, and those of a new task", () => {
  const base = text(head, "  0 run next=2 (1 line: string) -> void");
  const ours = text(head, "  0 run next=3 (1 line: string, 2 parts: int32?) -> void");
  const theirs = text(head, "  0 run next=3 (1 line: string, 2 sharp: boolean?) -> void");
  expect(merge(base, ours, theirs)).toMatchObject({
    lines: [head, "  0 run next=4 (1 line: string, 2 parts: int32?, 3 sharp: boolean?) -> void"],
    moved: [{ member: "Cut.run(sharp)", side: "theirs", from: 2, to: 3 }],
    conflicts: [],
  });
  expect(merge(text(), base, base)).toMatchObject({
    lines: [head, "  0 run next=2 (1 line: string) -> void"],
    moved: [],
    conflicts: [],
  });
});

test("a merge of two results is a conflict", () => {
  const base = text(head, "  0 run next=1 () -> void");
  const { conflicts } = merge(
    base,
    text(head, "  0 run next=1 () -> string"),
    text(head, "  0 run next=1 () -> int32"),
  );
  expect(conflicts).toEqual(["Cut.run: changed to string on our side and to int32 on theirs"]);
});
