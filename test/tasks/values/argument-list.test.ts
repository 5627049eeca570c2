/** Encoded arguments are joined to one buffer, and split without copies. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { CodecError } from "../../../runtime/index.js";
import { decodeArguments, encodeArguments } from "../../../runtime/tasks/values/index.js";
import { cases } from "../../profile.js";

const sizes = fc.oneof(fc.nat(3), fc.nat(40), fc.constantFrom(127, 128, 16_383, 16_384));

test("arguments come back as they were, as views of the buffer, wherever it starts", () => {
  fc.assert(
    fc.property(fc.array(sizes, { maxLength: 200 }), fc.nat(9), (lengths, skipped) => {
      const parts = lengths.map((length, i) => new Uint8Array(length).fill(i));
      const encoded = encodeArguments("sum", parts);
      const received = new Uint8Array(encoded.length + skipped + 1).subarray(skipped, skipped + encoded.length);
      received.set(encoded);
      const decoded = decodeArguments(received);
      expect(decoded).toHaveLength(parts.length);
      for (const [i, part] of parts.entries()) {
        expect(Buffer.compare(part, decoded[i] as Uint8Array)).toBe(0);
        expect(decoded[i]?.buffer).toBe(received.buffer);
      }
    }),
    { numRuns: cases(200) },
  );
});

test("no arguments take one byte, and a small one two more", () => {
  expect(encodeArguments("sum", [])).toStrictEqual(Uint8Array.of(0));
  expect(encodeArguments("sum", [Uint8Array.of(7)])).toStrictEqual(Uint8Array.of(1, 1, 7));
});

test("a change of an argument after encoding does not show", () => {
  const part = new Uint8Array(100).fill(1);
  const encoded = encodeArguments("sum", [part]);
  part.fill(2);
  expect(decodeArguments(encoded)).toStrictEqual([new Uint8Array(100).fill(1)]);
});

test.each<[string, number[], string]>([
  ["no bytes", [], "they end too early"],
  ["fewer lengths than arguments", [2, 1], "it says that there are 2 of them"],
  ["4 G arguments", [255, 255, 255, 255, 15], "it says that there are 4294967295 of them"],
  ["an argument that ends too early", [2, 1, 2, 9, 9], "argument 2 ends too early"],
  ["an argument of 4 GiB", [1, 255, 255, 255, 255, 15, 1], "argument 1 ends too early"],
  ["bytes after the arguments", [1, 1, 9, 9], "there are more bytes than they need"],
  ["a length that never ends", [1, 128, 128, 128, 128, 128, 1], "a length has more than five bytes"],
])("%s are refused", (_, bytes, reason) => {
  expect(() => decodeArguments(Uint8Array.from(bytes))).toThrow(CodecError);
  expect(() => decodeArguments(Uint8Array.from(bytes))).toThrow(`cannot decode arguments of a task: ${reason}`);
});

test("any bytes are split or refused", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 30 }), (bytes) => {
      try {
        const parts = decodeArguments(bytes);
        expect(parts.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(bytes.length);
      } catch (error) {
        expect(error).toBeInstanceOf(CodecError);
      }
    }),
    { numRuns: cases(5000) },
  );
});

test("too many arguments, and too large ones, are refused", () => {
  const empty = new Uint8Array(0);
  expect(decodeArguments(encodeArguments("sum", new Array<Uint8Array>(65_535).fill(empty)))).toHaveLength(65_535);
  expect(() => encodeArguments("sum", new Array<Uint8Array>(65_536).fill(empty))).toThrow(
    new RangeError("cannot run sum: expected at most 65535 arguments, got 65536"),
  );
  const large = Object.defineProperty(new Uint8Array(0), "length", { value: 0x7fff_ffff });
  expect(() => encodeArguments("sum", [large])).toThrow(
    new RangeError("cannot run sum: expected arguments of at most 2147483640 bytes, got 2147483653 bytes"),
  );
});
