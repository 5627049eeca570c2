/** Numbers, bytes, times and field paths in JSON: the spellings that are read, refused and written. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatBase64, parseBase64 } from "../../../runtime/wire/json/base64.js";
import { formatPath, parsePath } from "../../../runtime/wire/json/field-mask.js";
import { formatDouble, parseDouble, parseFloat32, parseInteger } from "../../../runtime/wire/json/number.js";
import { formatDuration, formatTimestamp, parseDuration, parseTimestamp } from "../../../runtime/wire/json/time.js";

describe("integers", () => {
  test.each<readonly [unknown, bigint]>([
    [0, 0n],
    [-0, 0n],
    [1e5, 100000n],
    ["0", 0n],
    ["-0", 0n],
    ["12", 12n],
    ["1e5", 100000n],
    ["1E+5", 100000n],
    ["-1.5e1", -15n],
    ["100000.000", 100000n],
    ["1200e-2", 12n],
    ["0.0000", 0n],
    ["0e999999999999", 0n],
    ["0.0000000000000000000000001e25", 1n],
    ["9007199254740993", 9007199254740993n],
    ["9223372036854775807", 2n ** 63n - 1n],
    ["-9223372036854775808", -(2n ** 63n)],
    ["18446744073709551615", 2n ** 64n - 1n],
    [2 ** 63 - 1024, 9223372036854774784n],
  ])("parseInteger reads %j as %s", (json, value) => {
    expect(parseInteger(json)).toBe(value);
  });

  test.each([
    0.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    "",
    " 1",
    "1 ",
    "+1",
    "01",
    "1.",
    ".5",
    "0x10",
    "1n",
    "1_000",
    "1.5",
    "15e-1",
    "Infinity",
    "1e21",
    "1e999999999999999999999",
    "١",
    true,
    null,
    undefined,
    [],
    ["5"],
    {},
  ])("parseInteger refuses %j", (json) => {
    expect(parseInteger(json)).toBe(undefined);
  });

  test("numbers with hundreds of thousands of zeros are parsed quickly", () => {
    expect(parseInteger(`1${"0".repeat(200_000)}1${"0".repeat(200_000)}1`)).toBe(undefined);
    expect(parseInteger(`1${"0".repeat(200_000)}e-200000`)).toBe(1n);
  });
});

describe("floating-point numbers", () => {
  test.each<readonly [unknown, number]>([
    [1.5, 1.5],
    ["1.5", 1.5],
    ["-1e-3", -0.001],
    ["-0", -0],
    ["NaN", Number.NaN],
    ["Infinity", Number.POSITIVE_INFINITY],
    ["-Infinity", Number.NEGATIVE_INFINITY],
    ["1e-400", 0],
  ])("parseDouble reads %j as %d", (json, value) => {
    expect(parseDouble(json)).toBe(value);
  });

  test.each([
    "",
    "1e400",
    "-1e400",
    "nan",
    "inf",
    "+Infinity",
    " 1",
    "0x1",
    ["5"],
    Number.NaN,
    Number.POSITIVE_INFINITY,
    true,
    null,
  ])("parseDouble refuses %j", (json) => {
    expect(parseDouble(json)).toBe(undefined);
  });

  test("parseFloat32 rounds to single precision, and refuses values that would become infinite", () => {
    expect(parseFloat32("0.1")).toBe(Math.fround(0.1));
    expect(parseFloat32(3.4028235e38)).toBe(3.4028234663852886e38);
    expect(parseFloat32(3.4028236e38)).toBe(undefined);
    expect(parseFloat32("-3.5e38")).toBe(undefined);
    expect(parseFloat32("-Infinity")).toBe(Number.NEGATIVE_INFINITY);
    expect(parseFloat32("x")).toBe(undefined);
  });

  test("parseDouble reads every number that formatDouble writes", () => {
    fc.assert(fc.property(fc.double(), (value) => Object.is(parseDouble(formatDouble(value)), value)));
  });
});

describe("base64", () => {
  test.each<readonly [string, readonly number[]]>([
    ["", []],
    ["AQI=", [1, 2]],
    ["AQI", [1, 2]],
    ["AQ==", [1]],
    ["AQ", [1]],
    ["AQID", [1, 2, 3]],
    ["+/8=", [251, 255]],
    ["-_8", [251, 255]],
    ["-_", [251]],
  ])("parseBase64 reads %j", (text, bytes) => {
    expect(parseBase64(text)).toEqual(Uint8Array.from(bytes));
  });

  test.each(["A", "AQI==", "AQ=", "=", "==", "AQ==AQ==", "A Q=", "AQI\n", "+_8=", "é"])("%j is not base64", (text) => {
    expect(parseBase64(text)).toBe(undefined);
  });

  test("parseBase64 reads the bytes that formatBase64 writes, into a Uint8Array with its own memory", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const back = parseBase64(formatBase64(bytes));
        expect(back).toEqual(bytes);
        expect(back?.constructor).toBe(Uint8Array);
        expect(back?.buffer.byteLength).toBe(bytes.length);
      }),
    );
  });
});

describe("timestamps", () => {
  test.each<readonly [string, bigint, number]>([
    ["1970-01-01T00:00:00Z", 0n, 0],
    ["1972-01-01T10:00:20.021Z", 63108020n, 21_000_000],
    ["1969-12-31T23:59:59.999999999Z", -1n, 999_999_999],
    ["0001-01-01T00:00:00Z", -62135596800n, 0],
    ["9999-12-31T23:59:59.999999999Z", 253402300799n, 999_999_999],
    ["2000-02-29T12:00:00.000001Z", 951825600n, 1000],
  ])("timestamp %s is read and written", (text, seconds, nanos) => {
    expect(parseTimestamp(text)).toEqual({ seconds, nanos });
    expect(formatTimestamp({ seconds, nanos })).toBe(text);
  });

  test.each<readonly [string, bigint, number]>([
    ["1970-01-01T01:30:00+01:30", 0n, 0],
    ["1970-01-01T23:59:00+23:59", 0n, 0],
    ["1969-12-31T16:00:00-08:00", 0n, 0],
    ["1970-01-01T00:00:00-00:00", 0n, 0],
    ["1970-01-01T00:00:00.1Z", 0n, 100_000_000],
    ["1970-01-01T00:00:00.0000000Z", 0n, 0],
  ])("timestamp %s is read although it is not the canonical form", (text, seconds, nanos) => {
    expect(parseTimestamp(text)).toEqual({ seconds, nanos });
  });

  test.each([
    "",
    "1970-01-01",
    "1970-01-01T00:00:00",
    "1970-01-01T00:00Z",
    "1970-01-01t00:00:00Z",
    "1970-01-01T00:00:00z",
    "1970-01-01 00:00:00Z",
    "1970-1-01T00:00:00Z",
    "1970-13-01T00:00:00Z",
    "1970-00-01T00:00:00Z",
    "1970-02-29T00:00:00Z",
    "1970-04-31T00:00:00Z",
    "1970-01-01T24:00:00Z",
    "1970-01-01T00:60:00Z",
    "1970-01-01T00:00:60Z",
    "1970-01-01T00:00:00.Z",
    "1970-01-01T00:00:00.1234567890Z",
    "1970-01-01T00:00:00+0100",
    "1970-01-01T00:00:00+24:00",
    "1970-01-01T00:00:00+00:60",
    "0000-12-31T23:59:59Z",
    "0001-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01",
    "10000-01-01T00:00:00Z",
    "+010000-01-01T00:00:00Z",
    "1970-01-01T00:00:00Z ",
    "11970-01-01T00:00:00Z",
  ])("parseTimestamp refuses %j", (text) => {
    expect(parseTimestamp(text)).toBe(undefined);
  });

  test.each<readonly [bigint, number]>([
    [-62135596801n, 0],
    [253402300800n, 0],
    [0n, -1],
    [0n, 1_000_000_000],
  ])("formatTimestamp refuses %s s and %d ns", (seconds, nanos) => {
    expect(formatTimestamp({ seconds, nanos })).toBe(undefined);
  });

  test("every timestamp in range is read as it was written", () => {
    const seconds = fc.bigInt({ min: -62135596800n, max: 253402300799n });
    const nanos = fc.integer({ min: 0, max: 999_999_999 });
    fc.assert(
      fc.property(fc.record({ seconds, nanos }), (instant) => {
        expect(parseTimestamp(formatTimestamp(instant) ?? "")).toEqual(instant);
      }),
    );
  });
});

describe("durations", () => {
  test.each<readonly [string, bigint, number]>([
    ["0s", 0n, 0],
    ["1s", 1n, 0],
    ["-2s", -2n, 0],
    ["0.500s", 0n, 500_000_000],
    ["1.000340012s", 1n, 340012],
    ["-1.500s", -1n, -500_000_000],
    ["-0.000001s", 0n, -1000],
    ["315576000000.999999999s", 315576000000n, 999_999_999],
    ["-315576000000.999999999s", -315576000000n, -999_999_999],
  ])("duration %s is read and written", (text, seconds, nanos) => {
    expect(parseDuration(text)).toEqual({ seconds, nanos });
    expect(formatDuration({ seconds, nanos })).toBe(text);
  });

  test.each<readonly [string, bigint, number]>([
    ["-0s", 0n, 0],
    ["-0.0s", 0n, 0],
    ["007.1s", 7n, 100_000_000],
  ])("duration %s is read although it is not the canonical form", (text, seconds, nanos) => {
    expect(parseDuration(text)).toEqual({ seconds, nanos });
  });

  test.each([
    "",
    "s",
    "1",
    "1m",
    "1.s",
    ".5s",
    "+1s",
    "1e3s",
    "1.0000000000s",
    "315576000001s",
    "--1s",
    " 1s",
    "1 s",
    "1s ",
  ])("parseDuration refuses %j", (text) => {
    expect(parseDuration(text)).toBe(undefined);
  });

  test.each<readonly [bigint, number]>([
    [315576000001n, 0],
    [-315576000001n, 0],
    [1n, -1],
    [-1n, 1],
    [0n, 1_000_000_000],
    [0n, -1_000_000_000],
  ])("formatDuration refuses %s s and %d ns", (seconds, nanos) => {
    expect(formatDuration({ seconds, nanos })).toBe(undefined);
  });
});

describe("field mask paths", () => {
  test.each([
    ["a", "a"],
    ["display_name", "displayName"],
    ["user.display_name.x1", "user.displayName.x1"],
    ["_a", "A"],
  ])("path %s is written as %s and read back", (path, text) => {
    expect(formatPath(path)).toBe(text);
    expect(parsePath(text)).toBe(path);
  });

  test.each(["", "displayName", "a__b", "a_1", "a_", "a,b", "a b", "a.", ".a", "1a", "a-b", "日本"])(
    "formatPath refuses %j",
    (path) => {
      expect(formatPath(path)).toBe(undefined);
    },
  );

  test.each(["", "a_b", "a.", "a b", "1a", "a..b", "日本"])("parsePath refuses %j", (text) => {
    expect(parsePath(text)).toBe(undefined);
  });
});
