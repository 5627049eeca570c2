/** Values that are not of their type are refused with their path. */
import { expect, test } from "vitest";
import { writeChoicesCapnp } from "./golden/choices/capnp/choices.js";
import { writeEverythingCapnp, writeMarkCapnp, writeNamesCapnp, writePairCapnp } from "./golden/kinds/capnp/kinds.js";
import { decodeScalarsCapnp, writeScalarsCapnp, writeTypedArraysCapnp } from "./golden/scalars/capnp/scalars.js";

const mark = { at: 1n, text: "m", by: null };
const scalars = {
  flag: true,
  real: 0,
  single: 0,
  int32: 0,
  uint32: 0,
  sint32: 0,
  fixed32: 0,
  sfixed32: 0,
  int64: 0n,
  uint64: 0n,
  sint64: 0n,
  fixed64: 0n,
  sfixed64: 0n,
  text: "",
  bytes: new Uint8Array(),
  at: new Date(0),
};
const written = (part: object) => () => writeScalarsCapnp({ ...scalars, ...part } as never);

test("a scalar of a wrong type or range is refused with its path", () => {
  expect(decodeScalarsCapnp(written({})())).toStrictEqual(scalars);
  expect(written({ flag: 1 })).toThrow("cannot write Scalars.flag: invalid boolean: expected true or false, got 1");
  expect(written({ real: "1" })).toThrow('cannot write Scalars.real: invalid number: expected a number, got "1"');
  expect(written({ single: null })).toThrow(
    "cannot write Scalars.single: invalid float32: expected a number, got null",
  );
  expect(written({ int32: 2 ** 31 })).toThrow(
    "cannot write Scalars.int32: invalid int32: expected an integer from -2147483648 to 2147483647, got 2147483648",
  );
  expect(written({ uint32: -1 })).toThrow(
    "cannot write Scalars.uint32: invalid uint32: expected an integer from 0 to 4294967295, got -1",
  );
  expect(written({ uint32: 0.5 })).toThrow("expected an integer from 0 to 4294967295, got 0.5");
  expect(written({ int32: Number.NaN })).toThrow("got NaN");
  expect(written({ int64: 1 })).toThrow(
    "cannot write Scalars.int64: invalid int64: expected a bigint from -9223372036854775808 to 9223372036854775807, got 1",
  );
  expect(written({ uint64: 2n ** 64n })).toThrow("got 18446744073709551616n");
  expect(written({ text: 7 })).toThrow("cannot write Scalars.text: invalid string: expected a string, got 7");
  expect(written({ text: "\ud800" })).toThrow(
    "cannot write Scalars.text: invalid string: expected well-formed Unicode, got a lone surrogate in",
  );
  expect(written({ bytes: [1] })).toThrow(
    "cannot write Scalars.bytes: invalid bytes: expected a Uint8Array, got an array of 1",
  );
  expect(written({ at: new Date(Number.NaN) })).toThrow(
    "cannot write Scalars.at: invalid date: expected a valid Date, got a Date",
  );
  expect(written({ at: undefined })).toThrow("cannot write Scalars.at: expected a value, got undefined");
  expect(() => writeScalarsCapnp(7 as never)).toThrow(
    "cannot write Scalars: invalid Scalars: expected an object, got 7",
  );
  expect(() => writeTypedArraysCapnp({ int8: new Int16Array() } as never)).toThrow(
    "cannot write TypedArrays.int8: invalid Int8Array: expected a Int8Array, got an Int16Array",
  );
});

test("an inherited property does not count as a value", () => {
  expect(() => writeNamesCapnp({} as never)).toThrow("cannot write Names.two_words: expected a value, got undefined");
  const rest = { two_words: "", twoWords: 1, "two words": true, größe: 1, "1st": "" };
  expect(() => writeNamesCapnp(rest as never)).toThrow(
    "cannot write Names.constructor: expected a value, got undefined",
  );
  expect(() => writeNamesCapnp({ ...rest, "two words": "" } as never)).toThrow(
    'cannot write Names["two words"]: invalid',
  );
});

test("an invalid value in a collection is refused with its path", () => {
  const everything = (part: object) => () =>
    writeEverythingCapnp({ key: { case: "name", value: "" }, ...part } as never);
  expect(everything({ key: { case: "other", value: 1 } })).toThrow(
    'cannot write Everything.key: invalid Key: expected case to be one of "id", "name", "nothing", "grid", got "other"',
  );
  expect(everything({ key: { case: "grid", value: [[1n], [2n, 3]] } })).toThrow(
    "cannot write Everything.key.value[1][1]: invalid int64: expected a bigint",
  );
  expect(everything({ keys: {} })).toThrow(
    "cannot write Everything.keys: invalid array: expected an array, got an object",
  );
  expect(everything({ pair: [] })).toThrow(
    "cannot write Everything.pair: invalid tuple: expected 1 or more elements, got 0",
  );
  expect(() => writePairCapnp([null, undefined, 7] as never)).toThrow("cannot write Pair[0]: invalid string");
  const rest = { pair: [null], pairs: [], grid: [], nest: [], flags: [], maybeFlags: [], maybeDates: [] };
  expect(everything({ ...rest, maybeFlags: [undefined] })).toThrow(
    "cannot write Everything.maybeFlags[0]: expected a value or null, got undefined",
  );
  expect(everything({ ...rest, byKey: [] })).toThrow("invalid map: expected a Map, got an array of 0");
  expect(everything({ ...rest, byKey: new Map([[{ case: "id", value: 1n }, []]]) })).toThrow(
    "cannot write Everything.byKey[0][an object]: invalid set: expected a Set, got an array of 0",
  );
  expect(everything({ ...rest, byKey: new Map(), record: { a: mark, b: 1 } })).toThrow(
    'cannot write Everything.record[1]["b"]: invalid Mark: expected an object, got 1',
  );
  expect(everything({ ...rest, byKey: new Map(), record: [] })).toThrow(
    "invalid record: expected an object, got an array of 0",
  );
});

test("an unknown value of an enum or a union is refused with its path", () => {
  const choices = (part: object) => () => writeChoicesCapnp({ direction: "north", level: 10, ...part } as never);
  expect(choices({ direction: "up" })).toThrow(
    'cannot write Choices.direction: invalid enum value: expected one of "north", "east", "south", "west", got "up"',
  );
  expect(choices({ direction: "$unknown:70000" })).toThrow("invalid enum value");
  expect(choices({ shape: { kind: "$unknown" } })).toThrow(
    'cannot write Choices.shape: invalid Shape: expected kind to be one of "circle", "square", "polygon", got "$unknown"',
  );
  expect(choices({ shape: { kind: "circle" } })).toThrow(
    "cannot write Choices.shape.radius: expected a value, got undefined",
  );
});

test("an optional field may be left out, but a required nullable field may not", () => {
  expect(() => writeMarkCapnp({ ...mark, weight: null })).not.toThrow();
  expect(() => writeMarkCapnp({ at: 1n, text: "m" } as never)).toThrow(
    "cannot write Mark.by: expected a value, got undefined",
  );
});
