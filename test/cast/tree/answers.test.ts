/** Tests of the answers of many ranks to one cast: equal answers are merged if comparing them is cheap. */
import { expect, test } from "vitest";
import { AnswerCollector, AnswerKind, type RankAnswer } from "../../../runtime/cast/tree/answers.js";

const bytesOf = (text: string) => Buffer.from(text);
const value = (text: string, more: Partial<RankAnswer> = {}): RankAnswer => ({
  kind: AnswerKind.value,
  isProtobuf: false,
  bytes: bytesOf(text),
  blocks: [],
  ...more,
});

/** Adds answers of ranks 0, 1, 2 … @returns the groups, as text */
function gathered(answers: readonly RankAnswer[]): string[] {
  const all = new AnswerCollector();
  for (const [rank, answer] of answers.entries()) all.add(answer, [{ start: rank, count: 1 }]);
  return described(all);
}

function described(all: AnswerCollector): string[] {
  return all.takeAll().map(({ ranks, bytes }) => {
    const runs = ranks.map(({ start, count }) => `${start}+${count}`).join(" ");
    return `${runs}: ${bytes.length > 20 ? bytes.length : bytes}`;
  });
}

test("equal answers are merged into one answer with all their ranks", () => {
  expect(gathered([value("a"), value("b"), value("a"), value("a"), value("b")])).toEqual(["0+1 2+2: a", "1+1 4+1: b"]);
});

test("answers that differ, have blocks or are folded are not merged", () => {
  const blocks = [Uint8Array.of(1)];
  const different = [
    value("a"),
    value("a", { kind: AnswerKind.error }),
    value("a", { kind: AnswerKind.failure }),
    value("a", { isProtobuf: true }),
    value("a", { blocks }),
    value("a", { blocks }),
    value("a", { kind: AnswerKind.folded }),
    value("a", { kind: AnswerKind.folded }),
    value("b"),
  ];
  expect(gathered(different)).toHaveLength(different.length);
  expect(gathered([value("a", { blocks }), value("a")])).toHaveLength(2);
});

test("the collector copies the ranks of an answer that is added", () => {
  const all = new AnswerCollector();
  const ranks = [{ start: 0, count: 1 }];
  all.add(value("a"), ranks);
  all.add(value("a"), [{ start: 5, count: 1 }]);
  expect(ranks).toEqual([{ start: 0, count: 1 }]);
  expect(described(all)).toEqual(["0+1 5+1: a"]);
});

test("an answer is compared with the last sixteen distinct answers and with the last repeated answer", () => {
  const distinct = (count: number) => Array.from({ length: count }, (_, i) => value(`${i}`));
  expect(gathered([...distinct(16), value("0")])).toHaveLength(16);
  expect(gathered([...distinct(17), value("1")])).toHaveLength(17);
  expect(gathered([...distinct(17), value("0")])).toHaveLength(18);
  expect(gathered([value("0"), value("0"), ...distinct(20).slice(1), value("0")])).toHaveLength(20);
});

test("answers of more than 64 KiB are not compared", () => {
  const long = (length: number) => value("x".repeat(length));
  expect(gathered([long(64 * 1024), long(64 * 1024)])).toEqual(["0+2: 65536"]);
  expect(gathered([long(64 * 1024 + 1), long(64 * 1024 + 1)])).toEqual(["0+1: 65537", "1+1: 65537"]);
});

test("`bytes` is the size of the distinct answers and their blocks until they are taken", () => {
  const all = new AnswerCollector();
  all.add(value("abc"), [{ start: 0, count: 1 }]);
  all.add(value("abc"), [{ start: 1, count: 1 }]);
  expect(all.bytes).toBe(3);
  all.add(value("de", { blocks: [new Uint8Array(10), new Uint8Array(20)] }), [{ start: 2, count: 1 }]);
  expect(all.bytes).toBe(35);
  all.takeAll();
  expect([all.bytes, all.takeAll()]).toEqual([0, []]);
});

test("answers that were taken are forgotten, so that a later equal answer forms a new group", () => {
  const all = new AnswerCollector();
  for (const start of [0, 1]) all.add(value("a"), [{ start, count: 1 }]);
  expect(described(all)).toEqual(["0+2: a"]);
  all.add(value("a"), [{ start: 2, count: 1 }]);
  expect(described(all)).toEqual(["2+1: a"]);
});
