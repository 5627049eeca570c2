/** What has become of a lock since an earlier version that others use. */
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

test("members that are added, renamed, retyped or removed lose nothing", () => {
  expect(changes(base, [head(4), "  1 name int32 was=key", '  2 -"a b" int32', "  3 size double"])).toEqual([]);
  expect(changes(base, ["message Other in schemas/b next=1", ...base])).toEqual([]);
  expect(changes(["enum Kind in schemas/a next=2", "  1 a"], ["enum Kind in schemas/a next=2", "  1 b"])).toEqual([]);
});

test("a block that has vanished is lost with all its lines", () => {
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

test("the id of an actor that is another one now is lost, and its place is the line of the block", () => {
  const now = store.replace("0x00000001", "0x00000002");
  expect(changes([store, create], [now, create])).toEqual([
    { kind: "lost", what: "id 0x00000001 of actor Store", lines: [store], where: `in place of \`${now}\``, line: 2 },
  ]);
});

test("the id of a member that has vanished is lost, and its place is below the block's first line", () => {
  expect(changes(base, [head(3), "  1 key string"])).toEqual([
    { kind: "lost", what: 'id 2 of Entry."a b"', lines: ['  2 "a b" int32'], where: `below \`${head(3)}\``, line: 2 },
  ]);
});

test("an id that another member has now is reused, and its place is that member's line", () => {
  expect(changes(base, [head(4), "  1 key string", "  2 size int32", '  3 "a b" int32'])).toEqual([
    { kind: "reused", id: 2, before: 'Entry."a b"', now: "Entry.size", text: '  2 "a b" int32', line: 4 },
  ]);
});

test("the id of a parameter that has vanished is lost, and its place is among the parameters", () => {
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

test("a member that has gone while another of its type has come was replaced, each by one", () => {
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
