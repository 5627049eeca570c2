/** The stand-in for Node's Buffer in browsers does what codecs expect of Buffer. */
import * as node from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Buffer, isAscii, isUtf8 } from "../../runtime/browser/buffer.js";

/** The methods of Node's Buffer that its declarations lack. */
type Internal = Record<string, (this: Uint8Array, ...args: (string | number)[]) => unknown>;
const theirs = node.Buffer.prototype as unknown as Internal;
const ours = Buffer.prototype as unknown as Internal;

/** Texts with lone surrogates, wide and Latin-1 units, byte order marks, and lengths around the limits of one step. */
const texts = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 }).map((units) => String.fromCharCode(...units)),
  fc.constantFrom("\ufeffmark", "é".repeat(4095), "é".repeat(4097), "☕".repeat(9000), ""),
);
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 60 }),
  texts.map((text) => new TextEncoder().encode(text)),
);

describe.each(["latin1", "utf8", "ucs2"])("%s", (encoding) => {
  test("writes the same bytes, and returns the same number of them", () => {
    fc.assert(
      fc.property(texts, fc.nat(9), (text, offset) => {
        const room = offset + text.length * 3 + 4;
        const [own, other] = [Buffer.allocUnsafeSlow(room).fill(0), node.Buffer.alloc(room)];
        const size = { latin1: text.length, utf8: text.length * 3, ucs2: text.length * 2 }[encoding]!;
        const write = `${encoding}Write`;
        expect(ours[write]!.call(own, text, offset, size)).toBe(theirs[write]!.call(other, text, offset, size));
        expect(node.Buffer.compare(own, other)).toBe(0);
      }),
    );
  });

  test("reads the same text of plain bytes at any offset", () => {
    fc.assert(
      fc.property(bytes, fc.nat(5), (all, from) => {
        const start = Math.min(from, all.length);
        // Only whole UTF-16 units are read.
        const end = encoding === "ucs2" ? start + ((all.length - start) & ~1) : all.length;
        const slice = `${encoding}Slice`;
        expect(ours[slice]!.call(all, start, end)).toBe(theirs[slice]!.call(all, start, end));
      }),
    );
  });
});

test("base64, concat and the checks of encodings agree with Node", () => {
  fc.assert(
    fc.property(bytes, bytes, (a, b) => {
      const { buffer, byteOffset, length } = a;
      const text = Buffer.from(buffer, byteOffset, length).toString("base64");
      expect(text).toBe(node.Buffer.from(a).toString("base64"));
      for (const form of [text, text.replace(/=+$/, ""), node.Buffer.from(a).toString("base64url")])
        expect([...Buffer.from(form, "base64")]).toEqual([...a]);
      expect([...Buffer.concat([a, b])]).toEqual([...a, ...b]);
      expect([isAscii(a), isUtf8(a)]).toEqual([node.isAscii(a), node.isUtf8(a)]);
      expect(Buffer.from(buffer, byteOffset, length).toString()).toBe(node.Buffer.from(a).toString());
    }),
  );
});
