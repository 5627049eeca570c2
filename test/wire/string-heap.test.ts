/** Strings survive encoding with any content, and never keep more memory alive than one chunk. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { codec, Writer } from "../../runtime/wire/index.js";

const strings = codec.array(codec.string);

test("any string is decoded as it was encoded", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.string({ unit: "grapheme", maxLength: 40 }),
    fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 })
      .map((units) => String.fromCharCode(...units).toWellFormed()),
  );
  fc.assert(
    fc.property(fc.array(text, { maxLength: 20 }), (list) => {
      expect(strings.decode(strings.encode(list))).toEqual(list);
    }),
    { numRuns: 500 },
  );
});

test("encode refuses a string with a lone surrogate, and the error has the path", () => {
  for (const text of ["\ud800", "\udc00\ud800", "a\udfffb", "😀\ud83d", `\ufffd${"日".repeat(100)}\udc00`]) {
    expect(() => codec.string.encode(text)).toThrow("invalid string: expected text without lone surrogates, got ");
  }
  expect(() => strings.encode(["fine 日本", "\ufffd", "half \ud83d", "fine"])).toThrow(
    'cannot encode string[][2]: invalid string: expected text without lone surrogates, got "half \\ud83d"',
  );
  const bytes = codec.string.encode("日本");
  bytes.set([0x00, 0xd8], bytes.length - 2);
  expect(codec.string.decode(bytes)).toBe("日\ud800");
  const replaced = ["\ufffd", "日\ufffd😀"];
  expect(strings.decode(strings.encode(replaced))).toEqual(replaced);
});

test("a lone surrogate is found at any position, and surrogate pairs are accepted", () => {
  // Earlier, shorter strings move the text to other places in memory.
  for (let before = 0; before < 4; before++) {
    for (let length = 1; length < 24; length++) {
      for (let at = 0; at < length; at++) {
        const text = (units: string) => "日".repeat(at) + units + "\ud7ff\ue000".repeat(length - at);
        const list = (units: string) => [...Array(before).fill("a"), text(units)];
        for (const lone of ["\ud800", "\udbff", "\udc00", "\udfff"]) {
          expect(() => strings.encode(list(lone))).toThrow("lone surrogates");
        }
        for (const fine of ["😀", "\ud7ff", "\ue000", "\uffff", "\u0000"]) {
          expect(strings.decode(strings.encode(list(fine)))).toEqual(list(fine));
        }
      }
    }
  }
});

test("equal strings encode to equal bytes, whatever was encoded before", () => {
  const texts = ["plain", "x".repeat(500), "Zoë".repeat(50), "日本語".repeat(50), `${"a".repeat(400)}日`];
  const first = texts.map((text) => codec.string.encode(text));
  for (const text of [...texts].reverse()) {
    codec.string.encode("日本");
    expect(codec.string.encode(text)).toEqual(first[texts.indexOf(text)]);
  }
});

test("a chunk is Latin-1 if all its code units are below 256, and UTF-16 otherwise", () => {
  const at = (length: number, place: number, unit: string) => "a".repeat(place) + unit + "a".repeat(length - place - 1);
  const texts = [1, 2, 11, 12, 13, 14, 127, 128, 129, 130, 300].flatMap((length) => [
    "a".repeat(length),
    ...["\u00ff", "\u0100", "日"].flatMap((unit) =>
      [0, length >> 1, length - 1].map((place) => at(length, place, unit)),
    ),
  ]);
  for (const before of ["a".repeat(40), "日".repeat(40)]) {
    for (const text of texts) {
      codec.string.encode(before);
      const bytes = codec.string.encode(text);
      const wide = [...text].some((unit) => unit > "\u00ff");
      const [start, units] = [new DataView(bytes.buffer).getUint32(0, true), text.length];
      expect(new DataView(bytes.buffer).getUint32(start, true)).toBe(units * 2 + (wide ? 1 : 0));
      // Wide text is at an even place.
      const padding = wide ? start % 2 : 0;
      expect(bytes.length).toBe(start + 4 + padding + (wide ? units * 2 : units));
      const expected = Buffer.from(text, wide ? "utf16le" : "latin1");
      expect([...bytes.subarray(start + 4)]).toEqual([...new Uint8Array(padding), ...expected]);
      expect(codec.string.decode(bytes)).toBe(text);
    }
  }
});

test("a writer with little memory grows until the text fits", () => {
  for (const unit of ["a", "é", "日"]) {
    for (let length = 0; length < 50; length++) {
      const w = new Writer(8);
      codec.string.encodeInto(w, unit.repeat(length));
      expect(codec.string.decode(w.take().slice())).toBe(unit.repeat(length));
    }
  }
});

test("text is split into chunks of at most 8192 units, and a longer string gets its own chunk", () => {
  const sizes = (list: readonly string[]): number[] => {
    const bytes = strings.encode([...list]);
    const view = new DataView(bytes.buffer);
    const found: number[] = [];
    for (let at = view.getUint32(0, true); at < bytes.length; ) {
      const header = view.getUint32(at, true);
      found.push(header >>> 1);
      at += 4 + (header >>> 1);
    }
    return found;
  };
  expect(sizes(["a".repeat(5000), "b".repeat(3192), "c"])).toEqual([8192, 1]);
  expect(sizes(["a".repeat(5000), "b".repeat(3193), "c"])).toEqual([5000, 3194]);
  expect(sizes(["a", "b".repeat(20_000), "c", "d"])).toEqual([1, 20_000, 2]);
  const list = [
    "a",
    "b".repeat(20_000),
    "",
    "日".repeat(9000),
    "c".repeat(300),
    ...new Array(100).fill("d".repeat(500)),
  ];
  expect(strings.decode(strings.encode(list))).toEqual(list);
});

test("a chunk of more than 8192 units that holds several strings is refused", () => {
  const bytes = codec.tuple(codec.string, codec.string).encode(["a".repeat(10_000), ""]);
  const view = new DataView(bytes.buffer);
  // Lengths 10000 and 0 become 9999 and 1.
  view.setUint32(6, 9999, true);
  view.setUint8(5, 1);
  expect(() => codec.tuple(codec.string, codec.string).decode(bytes)).toThrow(
    "cannot decode [string, string][0]: a chunk of text has the wrong size",
  );
});
