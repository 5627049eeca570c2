/** Untrusted bytes: errors are reported, and time and memory are limited by the number of bytes. */
import fc from "fast-check";
import { CapnpError } from "viceroy/capnp/v1";
import { expect, test } from "vitest";
import { compileCase } from "./compile.js";
import * as kinds from "./golden/kinds/capnp/kinds.js";
import * as recursion from "./golden/recursion/capnp/a.js";
import { valuesOf } from "./values.js";

/** A message of one segment with these words, low and high half each. */
function message(...words: readonly (readonly [low: number, high: number])[]): Uint8Array {
  const bytes = new Uint8Array(8 + words.length * 8);
  const view = new DataView(bytes.buffer);
  view.setUint32(4, words.length, true);
  words.forEach(([low, high], i) => {
    view.setUint32(8 + i * 8, low, true);
    view.setUint32(12 + i * 8, high, true);
  });
  return bytes;
}

/** Reads the title of a recording in which the given pointer is the only content. */
const titled = (low: number, high: number, ...more: [number, number][]) =>
  kinds.readRecordingCapnp(message([0, 0x10000], [low, high], ...more)).title;

test("a message with an invalid segment table is refused with the reason", () => {
  const read = (bytes: number[]) => () => kinds.readRecordingCapnp(new Uint8Array(bytes));
  expect(read([])).toThrow("cannot read the message: expected at least 8 bytes, got 0");
  expect(read([0, 0, 0, 0, 0, 0, 0])).toThrow("cannot read the message: expected at least 8 bytes, got 7");
  expect(read([0, 0, 0, 0, 0, 0, 0, 0])).toThrow("cannot read the message: its first segment has no root");
  expect(read([0, 0, 0, 0, 1, 0, 0, 0, 0])).toThrow(
    "cannot read the message: segment 0 of 8 bytes ends past the end: there are 1 bytes left",
  );
  expect(read([255, 255, 255, 255, 0, 0, 0, 0])).toThrow(
    "cannot read the message: expected at most 512 segments, got 4294967296",
  );
  expect(read([9, 0, 0, 0, 0, 0, 0, 0])).toThrow(
    "cannot read the message: the sizes of its 10 segments do not fit into 8 bytes",
  );
  expect(() => kinds.readRecordingCapnp("x" as never)).toThrow("cannot read a message: expected a Uint8Array");
});

test("pointers that leave their segment or have the wrong kind are refused", () => {
  expect(() => kinds.readRecordingCapnp(message([8, 1]))).toThrow(
    "cannot read the message: the struct at word 0 of segment 0 lies outside of its segment",
  );
  expect(() => kinds.readRecordingCapnp(message([-16, 1]))).toThrow(
    "cannot read the message: the struct at word 0 of segment 0 lies outside of its segment",
  );
  expect(() => kinds.readRecordingCapnp(message([1, 0]))).toThrow(
    "cannot read the message: expected a struct at word 0 of segment 0, got a list",
  );
  expect(() => kinds.readRecordingCapnp(message([3, 0]))).toThrow(
    "cannot read the message: expected a struct at word 0 of segment 0, got a capability",
  );
  expect(() => titled(4, 0x10000, [0, 0])).toThrow("expected a list at word 1 of segment 0, got a struct");
  expect(() => titled(1, 8 * 100 + 2)).toThrow("the list at word 1 of segment 0 lies outside of its segment");
  expect(() => titled(-15, 8 * 8 + 2)).toThrow("the list at word 1 of segment 0 lies outside of its segment");
});

test("far pointers that lead to no segment, past an end or to another far pointer are refused", () => {
  const root =
    (low: number, high: number, ...more: [number, number][]) =>
    () =>
      kinds.readRecordingCapnp(message([low, high], ...more));
  expect(root(2, 1)).toThrow("the far pointer at word 0 of segment 0 leads to segment 1, of 1");
  expect(root(2 + 8 * 5, 0)).toThrow("the far pointer at word 0 of segment 0 leads past the end of segment 0");
  expect(root(2, 0)).toThrow("the far pointer at word 0 of segment 0 leads to another one");
  expect(root(2 + 4 + 8, 0, [0, 0], [0, 0])).toThrow(
    "the double far pointer at word 0 of segment 0 leads to no far pointer",
  );
  expect(root(2 + 4 + 8, 0, [2, 0], [2, 0])).toThrow(
    "the double far pointer at word 0 of segment 0 has a far pointer as tag",
  );
  expect(root(2 + 8, 0, [0, 0])().title).toBe("");
});

test("a text that does not end with a zero or is not UTF-8 is refused", () => {
  const at = (byte: number, ...text: number[]) => {
    const word = text.reduce((sum, value, i) => sum + value * 2 ** (8 * i), 0);
    return titled(1, byte * 8 + 2, [word, 0]);
  };
  expect(at(3, 65, 66, 0)).toBe("AB");
  expect(at(1, 0)).toBe("");
  expect(() => at(0)).toThrow("expected a text at word 1 of segment 0: bytes that end with a zero");
  expect(() => at(2, 65, 66)).toThrow("expected a text at word 1 of segment 0: bytes that end with a zero");
  expect(() => at(3, 0xc3, 0x28, 0)).toThrow("the text at word 1 of segment 0 is not UTF-8");
  expect(at(4, 0xef, 0xbb, 0xbf, 0)).toBe("\ufeff");
});

test("a list whose elements have another type is refused", () => {
  const samples = (low: number, high: number, ...more: [number, number][]) =>
    kinds.readRecordingCapnp(message([0, 0x20000], [0, 0], [low, high], ...more));
  expect(() => samples(1, 8 + 4, [0, 0]).samples).toThrow(
    "expected a list of numbers of 8 bytes at word 2 of segment 0",
  );
  const key = (low: number, high: number, ...more: [number, number][]) =>
    kinds.readNestCapnp(message([0, 0x10000], [low, high], ...more)).value;
  expect(() => key(1, 8 + 1, [0, 0])).toThrow("the list at word 1 of segment 0 has elements of another type");
  expect(() => key(1, 7, [1, 0])).toThrow("the list at word 1 of segment 0 has elements that are no structs");
  expect(() => key(1, 7, [4 * 3, 1])).toThrow(
    "the list at word 1 of segment 0 has 3 elements, for which its 0 words are too few",
  );
});

test("a list of pointers is read as a list of structs whose first member is the pointer", () => {
  // Nest is a struct with a list of Nests; here the elements of its list are such lists themselves.
  const bytes = message(
    [0, 0x10000],
    [1, 8 * 2 + 6],
    // The first element is a list of two structs with a pointer each, which begins at word 4. The second one is null.
    [4 + 1, 8 * 2 + 7],
    [0, 0],
    [4 * 2, 0x10000],
    [0, 0],
    [1, 8 * 1 + 7],
    [4 * 1, 0x10000],
    [0, 0],
  );
  const { value } = kinds.readNestCapnp(bytes);
  expect([value.length, value.at(0)?.value.length, value.at(1)?.value.length]).toEqual([2, 2, 0]);
  expect(kinds.decodeNestCapnp(bytes)).toEqual([[[], [[]]], []]);
});

test("a short message that claims a list of millions of elements is refused", () => {
  const millions = 2 ** 29 - 1;
  const bytes = message([0, 0x10000], [1, 7], [4 * (millions & 0x0fffffff), 0]);
  const reader = kinds.readNestCapnp(bytes);
  expect(() => reader.value).toThrow(
    "cannot read the message: more of it has been looked at than its limit allows. A message that refers to the same " +
      "place again and again is refused; for one that can be trusted give { traversal: Infinity }",
  );
  expect(() => kinds.decodeNestCapnp(bytes)).toThrow(CapnpError);
});

test("a message that contains itself is refused by the depth or the traversal limit", () => {
  // The root's first pointer leads to the root.
  const circle = message([0, 0x20001], [0, 0], [-8, 0x20001], [-12, 0x20001]);
  expect(() => recursion.decodeTreeCapnp(circle)).toThrow("cannot read the message: it nests deeper than 64 levels");
  expect(() => recursion.decodeTreeCapnp(circle, { depth: 500, traversal: 1e4 })).toThrow("than its limit allows");
  expect(() => recursion.decodeTreeCapnp(circle, { depth: 1e7 })).toThrow(
    "cannot read Tree: it nests deeper than the stack of this process allows",
  );
});

test("a value that nests deeper than the depth limit is not written", () => {
  let deep: { value: number; left?: object } = { value: 0 };
  for (let i = 0; i < 70; i++) deep = { value: i, left: deep };
  expect(() => recursion.writeTreeCapnp(deep as never)).toThrow("it nests deeper than 64 levels, or contains itself");
  const bytes = recursion.writeTreeCapnp(deep as never, { depth: 100 });
  expect(() => recursion.decodeTreeCapnp(bytes)).toThrow("cannot read the message: it nests deeper than 64 levels");
  expect(recursion.decodeTreeCapnp(bytes, { depth: 100 })).toStrictEqual(deep);
});

test("a damaged message is decoded or refused with a CapnpError", () => {
  const values = valuesOf(compileCase("kinds").schema, "Everything");
  let refused = 0;
  fc.assert(
    fc.property(
      values,
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 8 }),
      fc.option(fc.nat(), { nil: undefined }),
      (value, changes, cut) => {
        const bytes = kinds.writeEverythingCapnp(value as never).slice();
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
        const damaged = cut === undefined ? bytes : bytes.subarray(0, cut % bytes.length);
        try {
          kinds.decodeEverythingCapnp(damaged, { traversal: 1e6 });
        } catch (error) {
          if (!(error instanceof CapnpError)) throw error;
          refused++;
        }
      },
    ),
    { numRuns: 3000 },
  );
  expect(refused).toBeGreaterThan(100);
});
