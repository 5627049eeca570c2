/** Checks that `.proto` files list what `@reserved` and the lock reserve, and that no member gets a reserved number. */
import { expect, test } from "vitest";
import { emitProto } from "../../../compiler/emit/proto/index.js";
import { parseLock, printLock } from "../../../compiler/lock/index.js";
import { inputOf } from "../emit/proto/lowered.js";

const textOf = (input: ReturnType<typeof inputOf>) =>
  emitProto(input)
    .files.map(({ content }) => String(content))
    .join("\n");
const inputOfText = (text: string, lock?: string) =>
  inputOf(
    [{ path: "schemas/a.ts", text }],
    ...(lock === undefined ? [] : ([parseLock("viceroy.lock", lock).lock] as const)),
  );

test("reserved numbers, ranges and names are listed in the .proto file, and new members get other numbers", () => {
  const input = inputOfText(`/** @reserved 1, 3 to 5, old_name */
export interface Tree {
  age: number;
  name: string;
  inner: { x: number };
}
/** @reserved 1 */
export type Sort = "oak" | "fir";`);
  expect(textOf(input)).toContain(`message Tree {
  reserved 1, 3 to 5;
  reserved "old_name";
  double age = 2;
  string name = 6;
  TreeInner inner = 7;
}`);
  expect(textOf(input)).toContain("double x = 1;");
  expect(textOf(input)).toContain("reserved 1;\n  SORT_UNSPECIFIED = 0;\n  SORT_OAK = 2;\n  SORT_FIR = 3;");
});

test("numbers and names of tombstones in the lock are reserved together with those of @reserved", () => {
  const before = inputOfText("export interface Tree {\n  age: number;\n  name: string;\n}");
  const after = inputOfText(
    "/** @reserved 7, other */\nexport interface Tree {\n  name: string;\n}",
    printLock(before.lock),
  );
  expect(textOf(after)).toContain('reserved 1, 7;\n  reserved "age", "other";');
});
