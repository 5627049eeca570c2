/** Answers that a process combines on their way to the caller, and answers that it passes on unchanged. */
import { describe, expect, test } from "vitest";
import { createFold } from "../../../runtime/actor/call/fold-answers.js";
import { type AnswerGroup, AnswerKind } from "../../../runtime/cast/tree/answers.js";
import type { CastInterface } from "../../../runtime/cast/tree/tree-setup.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../../runtime/wire/descriptor.js";

const args = defineArgs(codec.tuple(), 0, 0);
const descriptor = defineActor({
  key: "test/folding#Folding",
  name: "Folding",
  id: 1,
  fingerprint: 5n,
  args: () => args,
  endpoints: () => ({
    number: { id: 1, args, result: codec.int32 },
    nothing: { id: 2, args },
    text: { id: 3, args, result: codec.string },
  }),
});
const known = { key: descriptor.key, fingerprint: 5n } as CastInterface;
const [number, nothing, text] = [0, 1, 2];

/** An answer of several ranks; each run consists of its first rank and the number of its ranks. */
function answer(value: number | string, runs: readonly (readonly [number, number])[], more: object = {}): AnswerGroup {
  const encoded = typeof value === "number" ? codec.int32.encode(value) : codec.string.encode(value);
  const ranks = runs.map(([start, count]) => ({ start, count }));
  return { kind: AnswerKind.value, isProtobuf: false, bytes: Buffer.from(encoded), blocks: [], ranks, ...more };
}
const folded = { kind: AnswerKind.folded };
const sum = (groups: readonly AnswerGroup[]) => createFold(descriptor, known, number, "sum")!(groups);
const concat = (groups: readonly AnswerGroup[], reduction = "concat") =>
  createFold(descriptor, known, text, reduction)?.(groups);

describe("the answers of an endpoint", () => {
  test.each<[string, Partial<CastInterface>, number, string]>([
    ["whose interface the actor does not have", { key: "test/folding#Other" }, number, "sum"],
    ["whose schema is another one", { fingerprint: 6n }, number, "sum"],
    ["that there is not", {}, 9, "sum"],
    ["that answers nothing", {}, nothing, "sum"],
    ["by an operation that is not known here", {}, number, "no such operation"],
    ["that are only counted", {}, number, "count"],
  ])("are not combined: %s", (_, other, endpoint, reduction) => {
    expect(createFold(descriptor, { ...known, ...other }, endpoint, reduction)).toBe(undefined);
  });

  test("are combined into one answer if their ranks are contiguous, whatever order they arrive in", () => {
    expect(sum([answer(10, [[2, 1]]), answer(1, [[0, 2]]), answer(100, [[3, 2]])])).toEqual([
      answer(212, [[0, 5]], folded),
    ]);
  });

  test("are combined into one answer for each contiguous run of ranks if some ranks are missing", () => {
    const all = [
      answer(1, [
        [0, 2],
        [5, 1],
      ]),
      answer(10, [
        [6, 1],
        [2, 1],
      ]),
      answer(3, [[8, 1]]),
    ];
    expect(sum(all)).toEqual([answer(12, [[0, 3]], folded), answer(11, [[5, 2]], folded), answer(3, [[8, 1]], folded)]);
  });

  test("are combined with answers that were already combined further down the tree", () => {
    expect(sum([answer(5, [[0, 3]], folded), answer(2, [[3, 2]])])).toEqual([answer(9, [[0, 5]], folded)]);
  });

  test("of a single rank become a combined answer, and an empty list stays empty", () => {
    expect(sum([answer(7, [[1, 1]])])).toEqual([answer(7, [[1, 1]], folded)]);
    expect(sum([answer(7, [[0, 1]])])).toEqual([answer(7, [[0, 1]], folded)]);
    expect(sum([])).toEqual([]);
  });

  test("are passed on unchanged if they are errors or use the protobuf layout", () => {
    const error = answer(1, [[1, 1]], { kind: AnswerKind.error });
    const failure = answer(1, [[2, 1]], { kind: AnswerKind.failure });
    const protobuf = answer(1, [[3, 1]], { isProtobuf: true });
    const other = answer(1, [[4, 1]], { ...folded, isProtobuf: true });
    expect(sum([error, answer(5, [[0, 1]]), failure, protobuf, other])).toEqual([
      error,
      failure,
      protobuf,
      other,
      answer(5, [[0, 1]], folded),
    ]);
  });

  test("are passed on unchanged if their type cannot hold the combined value", () => {
    const groups = [answer(2 ** 31 - 1, [[0, 1]]), answer(1, [[1, 1]])];
    expect(sum(groups)).toBe(groups);
  });

  test("that are texts are joined in the order of their ranks", () => {
    const groups = [answer("c", [[2, 1]]), answer("a", [[0, 1]]), answer("b", [[1, 1]])];
    expect(concat(groups)).toEqual([answer("abc", [[0, 3]], folded)]);
    expect(concat([answer("ab", [[0, 2]], folded), answer("x", [[4, 1]])])).toEqual([
      answer("ab", [[0, 2]], folded),
      answer("x", [[4, 1]], folded),
    ]);
  });

  test("are passed on unchanged if the operation does not accept their type", () => {
    const groups = [answer("a", [[0, 1]]), answer("b", [[1, 1]])];
    expect(concat(groups, "sum")).toBe(groups);
  });
});
