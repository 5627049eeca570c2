/** Checks which harmful changes of a lock are reported, compared with an earlier version that others use. */
import { expect, test } from "vitest";
import { changesSince, parseLock } from "../../../compiler/lock/index.js";
import { text } from "./merged.js";

function changes(before: readonly string[], now: readonly string[]) {
  const [older, newer] = [before, now].map((lines) => parseLock("viceroy.lock", text(...lines)));
  expect([...older!.problems, ...newer!.problems]).toEqual([]);
  return changesSince(older!.lock, newer!.lock);
}

const head = (next: number) => `message Entry in schemas/a next=${next}`;
const base = [head(3), "  1 key string", '  2 "a b" int32'];
const store = "actor Store in schemas/a 0x00000001 next=2";
const create = "  0 new next=1 () -> void";

test("members that are added, renamed, retyped or removed are not reported as lost", () => {
  expect(changes(base, [head(4), "  1 name int32 was=key", '  2 -"a b" int32', "  3 size double"])).toEqual([]);
  expect(changes(base, ["message Other in schemas/b next=1", ...base])).toEqual([]);
  expect(changes(["enum Kind in schemas/a next=2", "  1 a"], ["enum Kind in schemas/a next=2", "  1 b"])).toEqual([]);
});

test("a block that is missing is reported as lost with all its lines", () => {
  expect(changes(base, ["message Other in schemas/a next=1"])).toEqual([
    {
      kind: "lost",
      what: "message Entry in schemas/a, with all its ids,",
      lines: base,
      where: "anywhere between other blocks",
      line: 1,
    },
  ]);
});

test("a changed id of an actor is reported as lost, at the line of the actor's block", () => {
  const now = store.replace("0x00000001", "0x00000002");
  expect(changes([store, create], [now, create])).toEqual([
    { kind: "lost", what: "id 0x00000001 of actor Store", lines: [store], where: `in place of \`${now}\``, line: 2 },
  ]);
});

test("the id of a missing member is reported as lost, with a place below the first line of the block", () => {
  expect(changes(base, [head(3), "  1 key string"])).toEqual([
    { kind: "lost", what: 'id 2 of Entry."a b"', lines: ['  2 "a b" int32'], where: `below \`${head(3)}\``, line: 2 },
  ]);
});

test("an id that belongs to another member now is reported as reused, at the line of that member", () => {
  expect(changes(base, [head(4), "  1 key string", "  2 size int32", '  3 "a b" int32'])).toEqual([
    { kind: "reused", id: 2, before: 'Entry."a b"', now: "Entry.size", text: '  2 "a b" int32', line: 4 },
  ]);
});

test("the id of a missing parameter is reported as lost, with a place among the parameters", () => {
  const get = (params: string) => [store, create, `  1 get next=3 (${params}) -> void`];
  expect(changes(get("1 key: string, 2 limit: int32"), get("1 key: string"))).toEqual([
    {
      kind: "lost",
      what: "id 2 of Store.get(limit)",
      lines: ["2 -limit: int32"],
      where: "between the parentheses of `1 get next=3 (1 key: string) -> void`",
      line: 4,
    },
  ]);
  expect(changes(get("1 key: string"), get("1 name: string, 2 more: int32"))).toEqual([]);
});

test("each removed member is reported as replaced by at most one added member of its type", () => {
  const before = [head(5), "  1 a string", "  2 b string", "  3 c int32", "  4 -d double"];
  const after = [head(9), "  1 -a string", "  2 -b string", "  3 -c int32", "  4 -d double"];
  const come = ["  5 e string", "  6 f double", "  7 g string", "  8 h string"];
  expect(changes(before, [...after, ...come])).toEqual([
    { kind: "replaced", of: "Entry", removed: "a", added: "e", line: 7 },
    { kind: "replaced", of: "Entry", removed: "b", added: "g", line: 9 },
  ]);
  expect(changes(before, [...after, "  5 -e string"])).toEqual([]);
  expect(changes([...after, ...come], [...after, ...come])).toEqual([]);
});
