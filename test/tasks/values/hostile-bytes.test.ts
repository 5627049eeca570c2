/** Bytes that no writer has written are refused or decoded, within memory in proportion to their number. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CodecError } from "../../../runtime/index.js";
import * as layout from "../../../runtime/tasks/values/layout.js";
import { cases } from "../../profile.js";
import { plainValues } from "./random-values.js";
import { decode, encode } from "./references.js";

/** Returns the reason for which bytes are refused. */
function refusalOf(bytes: readonly number[]): string {
  try {
    decode(Uint8Array.from(bytes));
  } catch (error) {
    expect(error).toBeInstanceOf(CodecError);
    return (error as CodecError).message;
  }
  return expect.fail("the bytes were decoded");
}

/** A length of 2^32 - 1. */
const huge = [0xff, 0xff, 0xff, 0xff, 0x0f];

describe("bytes are refused with the reason", () => {
  test.each<[string, number[], string]>([
    ["no bytes", [], "the bytes end too early, at byte 0 of 0"],
    ["an unknown tag", [0xff], "unknown tag 255, at byte 1 of 1"],
    ["bytes after the value", [1, 2], "there are more bytes than the value needs, at byte 1 of 2"],
    ["an integer that ends too early", [layout.INT32, 1, 2, 3], "the bytes end too early, at byte 1 of 4"],
    ["a number that ends too early", [layout.DOUBLE, 1], "the bytes end too early, at byte 1 of 2"],
    ["a short text that ends too early", [layout.TEXT | 3, 97], "the bytes end too early, at byte 1 of 2"],
    [
      "a text of 4 GiB",
      [layout.LONG_LATIN1, ...huge],
      "there are fewer bytes than 4294967295 items need, at byte 6 of 6",
    ],
    [
      "a wide text of 4 GiB",
      [layout.LONG_UTF16, ...huge],
      "there are fewer bytes than 4294967295 items need, at byte 6 of 6",
    ],
    [
      "a wide text with half a unit",
      [layout.LONG_UTF16, 1, 97],
      "there are fewer bytes than 1 items need, at byte 2 of 3",
    ],
    [
      "an array of 4 G items",
      [layout.LONG_ARRAY, ...huge, 1],
      "there are fewer bytes than 4294967295 items need, at byte 6 of 7",
    ],
    ["a short array without items", [layout.ARRAY | 2, 1], "there are fewer bytes than 2 items need, at byte 1 of 2"],
    ["4 G numbers", [layout.NUMBERS, ...huge, 1], "there are fewer bytes than 4294967295 items need, at byte 6 of 7"],
    [
      "an object of 4 G properties",
      [layout.LONG_OBJECT, ...huge],
      "there are fewer bytes than 4294967295 items need, at byte 6 of 6",
    ],
    ["a short object without properties", [layout.OBJECT | 1], "the bytes end too early, at byte 1 of 1"],
    [
      "a property whose name is a number",
      [layout.OBJECT | 1, 1, 1],
      "the name of a property has the tag 1, at byte 2 of 3",
    ],
    ["a map of 4 G entries", [layout.MAP, ...huge], "there are fewer bytes than 4294967295 items need, at byte 6 of 6"],
    ["a set of 4 G members", [layout.SET, ...huge], "there are fewer bytes than 4294967295 items need, at byte 6 of 6"],
    [
      "an ArrayBuffer of 4 GiB",
      [layout.BINARY, 0, ...huge],
      "there are fewer bytes than 4294967295 items need, at byte 7 of 7",
    ],
    [
      "a binary value apart that begins after the end",
      [layout.BINARY_APART, 2, 3, 1, 0, 0, 0],
      "no 3 bytes at 4096, at byte 7 of 7",
    ],
    [
      "a binary value apart that begins before the start",
      [layout.BINARY_APART, 2, 3, 255, 255, 255, 255],
      "no 3 bytes at -4096, at byte 7 of 7",
    ],
    [
      "a binary value apart that is larger than all bytes",
      [layout.BINARY_APART, 2, ...huge, 0, 0, 0, 0],
      "no 4294967295 bytes at 0, at byte 11 of 11",
    ],
    [
      "a binary value apart that overlaps the others",
      [layout.BINARY_APART, 2, 7, 0, 0, 0, 0],
      "a binary value overlaps the others, at byte 7 of 7",
    ],
    [
      "two binary values apart in the same place",
      [layout.ARRAY | 2, layout.BINARY_APART, 2, 15, 0, 0, 0, 0, layout.BINARY_APART, 2, 15, 0, 0, 0, 0],
      "no 15 bytes at 0, at byte 15 of 15",
    ],
    [
      "bytes after a binary value apart",
      [layout.BINARY_APART, 2, 3, 0, 0, 0, 0],
      "there are more bytes than the value needs, at byte 7 of 7",
    ],
    ["an unknown class", [layout.BINARY, 99, 0], "unknown class 99 of binary values, at byte 3 of 3"],
    ["numbers of half a length", [layout.BINARY, 10, 4, 1, 2, 3, 4], "4 bytes are no Float64Array, at byte 3 of 7"],
    [
      "a reference of 4 GiB",
      [layout.REFERENCE, ...huge],
      "there are fewer bytes than 4294967295 items need, at byte 6 of 6",
    ],
    [
      "a length that never ends",
      [layout.SET, 128, 128, 128, 128, 128, 128],
      "a length has more than five bytes, at byte 6 of 7",
    ],
    ["a bigint without digits", [layout.BIGINT, 0], "a bigint is not a hexadecimal number, at byte 2 of 2"],
    ["a bigint of a sign", [layout.BIGINT, 1, 45], "a bigint is not a hexadecimal number, at byte 3 of 3"],
    ["a bigint with other digits", [layout.BIGINT, 2, 48, 120], "a bigint is not a hexadecimal number, at byte 4 of 4"],
  ])("%s", (_, bytes, reason) => {
    expect(refusalOf(bytes)).toBe(`cannot decode plain value: ${reason}`);
  });
});

test("a value of more than 256 levels is refused, and takes no stack", () => {
  for (const level of [[layout.ARRAY | 1], [layout.OBJECT | 1, layout.TEXT], [layout.SET, 1], [layout.MAP, 1, 1]]) {
    const bytes = Array.from({ length: 100_000 }, () => level).flat();
    expect(refusalOf(bytes)).toContain("cannot decode plain value: nested deeper than 256, at byte ");
  }
});

test("a map that says it has more entries than one can have is refused", () => {
  const bytes = new Uint8Array(2 * layout.MAX_ENTRIES + 20);
  bytes.set([layout.MAP, 0x81, 0x80, 0x80, 0x08]);
  expect(() => decode(bytes)).toThrow(
    "cannot decode plain value: 16777217 entries are too many for a Map or Set, at byte 5 of 33554452",
  );
});

test("the error of a reference is thrown as it is", () => {
  expect(() => decode(Uint8Array.of(layout.REFERENCE, 0))).toThrow(
    "cannot decode a test reference: expected one byte, got 0",
  );
});

test("a value that ends early is refused wherever it ends", () => {
  fc.assert(
    fc.property(plainValues, (value) => {
      const bytes = encode(value);
      for (let end = 0; end < bytes.length; end++) expect(() => decode(bytes.subarray(0, end))).toThrow();
    }),
    { numRuns: cases(50) },
  );
});

test("altered and random bytes are decoded or refused in a process with little memory", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "viceroy-plain-"));
  try {
    const child = path.join(folder, "child.mjs");
    await build({
      entryPoints: [fileURLToPath(new URL("fuzz-child.ts", import.meta.url))],
      bundle: true,
      platform: "node",
      format: "esm",
      outfile: child,
      logLevel: "silent",
      // The runtime does not start from a bundle.
      plugins: [
        {
          name: "runtime",
          setup(builder) {
            const runtime = fileURLToPath(new URL("../../../dist/index.js", import.meta.url));
            builder.onResolve({ filter: /^\.\.\/\.\.\/index\.js$/ }, () => ({ path: runtime, external: true }));
          },
        },
      ],
    });
    const count = cases(50_000, 5_000_000);
    const seed = process.env["VICEROY_SEED"] ?? "1";
    const args = ["--max-old-space-size=48", child, String(count), seed];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const result = JSON.parse(stdout) as { decoded: number; refused: number };
    expect(result.decoded + result.refused).toBe(count);
    expect(result.decoded).toBeGreaterThan(count / 100);
    expect(result.refused).toBeGreaterThan(count / 100);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
