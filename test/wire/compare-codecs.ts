/**
 * Compares generated codecs with the composed codecs of the same types: with right and wrong values,
 * and with bytes that no codec wrote.
 */
import assert from "node:assert/strict";
import { describe, expect, test } from "vitest";
import { type Codec, codec, type GeneratedCodec } from "../../runtime/wire/index.js";
import { randomNumbers } from "../random.js";
import { mutateFields } from "./mutate-fields.js";
import { concat, field } from "./protobuf/message-bytes.js";
import { samplesOf, texts, withUnknownField } from "./samples.js";

export type Generated = GeneratedCodec<unknown>;

export function isGenerated(value: unknown): value is Generated {
  return typeof (value as Partial<Generated> | null)?.shape === "function";
}

/** Wrong values that replace a value or one of its members. */
const wrong: readonly unknown[] = [
  undefined,
  null,
  0.5,
  -1,
  2 ** 40,
  2n ** 64n,
  -1n,
  "x",
  "\ud800",
  true,
  [],
  {},
  [1, 2, 3, 4, 5],
];

/** Tests that compare each of these codecs, by its name, with what it is composed of. */
export function compareCodecs(codecs: ReadonlyMap<string, Generated>): void {
  describe.each([...codecs])("%s", (_, generated) => {
    const composed = generated.shape();
    const samples = samplesOf(composed);

    test("has the layout and the fingerprint of its parts", () => {
      // A type that contains itself has the fingerprint that the compiler gives it; an alias has a name of its own.
      const layout = ({ slot, text, bulk, fingerprint, name }: Codec<unknown>) => ({
        ...{ slot, text, bulk },
        ...(/^\w+(\.\w+)?$/.test(composed.name) && { name }),
        ...(!generated.recursive && { fingerprint }),
      });
      expect(layout(generated)).toEqual(layout(composed));
    });

    test("writes the same bytes, and reads the value from them", () => {
      for (const value of samples) {
        for (const [write, read] of [
          ["encode", "decode"],
          ["toProtobuf", "fromProtobuf"],
        ] as const) {
          const bytes = outcome(composed, () => composed[write](value));
          assert.deepStrictEqual(
            outcome(generated, () => generated[write](value)),
            bytes,
          );
          if ("result" in bytes) assert.deepStrictEqual(generated[read](bytes.result as Uint8Array), value);
        }
      }
    });

    test("writes and reads texts of any length as its parts do, in one or more chunks", () => {
      for (const value of samples.slice(0, 3)) {
        for (const length of [253, 254, 255, 4096, 4097, 8192, 8193]) {
          const long = withTexts(value, "y".repeat(length));
          const bytes = outcome(composed, () => composed.encode(long));
          assert.deepStrictEqual(
            outcome(generated, () => generated.encode(long)),
            bytes,
          );
          if ("result" in bytes) assert.deepStrictEqual(generated.decode(bytes.result as Uint8Array), long);
        }
      }
    });

    test("merges what comes in two parts, inside of another message", () => {
      const [one, other] = [generated, composed].map((inner) => codec.object("Whole", { inner }));
      const parts = samples.slice(0, 6).flatMap((value) => {
        const written = outcome(composed, () => composed.toProtobuf(value));
        return "result" in written ? [field(1, written.result as Uint8Array)] : [];
      });
      for (const [i, part] of parts.entries()) {
        const both = concat(part, parts[(i + 1) % parts.length]!, field(1, Uint8Array.of(0xf8, 0x07, 1)));
        assert.deepStrictEqual(
          outcome(one!, () => one!.fromProtobuf(both)),
          outcome(other!, () => other!.fromProtobuf(both)),
        );
      }
    });

    test("refuses what is no value, and names the same place", () => {
      for (const value of [...wrong, ...samples.slice(0, 3).flatMap(withOneWrong)]) {
        for (const write of ["encode", "toProtobuf"] as const) {
          assert.deepStrictEqual(
            outcome(generated, () => generated[write](value)),
            outcome(composed, () => composed[write](value)),
          );
        }
      }
    });

    test("reads bytes that are cut, changed or longer as its parts do", () => {
      for (const value of samples.slice(0, 3)) {
        for (const [write, read] of [
          ["encode", "decode"],
          ["toProtobuf", "fromProtobuf"],
        ] as const) {
          const written = outcome(composed, () => composed[write](value));
          if (!("result" in written)) continue;
          for (const bytes of altered(written.result as Uint8Array)) {
            assert.deepStrictEqual(
              outcome(generated, () => generated[read](bytes)),
              outcome(composed, () => composed[read](bytes)),
            );
          }
        }
      }
    });

    test("reads fields that come twice, in another order, or that it does not know, and writes them again", () => {
      const random = randomNumbers(1);
      const messages = samples.flatMap((value) => {
        const written = outcome(composed, () => composed.toProtobuf(value));
        return "result" in written ? [written.result as Uint8Array] : [];
      });
      const unknown = Uint8Array.of(0xf8, 0xff, 0xff, 0xff, 0x0f, 1);
      for (const [i, message] of messages.entries()) {
        const next = messages[(i + 1) % messages.length]!;
        const changed = [
          Buffer.concat([message, next]),
          Buffer.concat([message, unknown, next, unknown]),
          ...Array.from({ length: 20 }, () => mutateFields(message, random)),
        ];
        for (const bytes of changed) {
          const read = outcome(generated, () => generated.fromProtobuf(bytes));
          assert.deepStrictEqual(
            read,
            outcome(composed, () => composed.fromProtobuf(bytes)),
          );
          if (!("result" in read)) continue;
          assert.deepStrictEqual(
            outcome(generated, () => generated.toProtobuf(read.result)),
            outcome(composed, () => composed.toProtobuf(read.result)),
          );
        }
      }
    });
  });
}

type Outcome = { readonly result: unknown } | { readonly reason: string; readonly path: string };

/** The result, or what the error says without the name of what was encoded. */
function outcome({ name }: Codec<unknown>, run: () => unknown): Outcome {
  try {
    return { result: run() };
  } catch (error) {
    // The class is that of the build, or that of the sources.
    expect((error as Error).name).toBe("CodecError");
    const { reason, path } = error as Error & { reason: string; path: string };
    return { reason, path: path.slice(name.length) };
  }
}

/** Copies of an object or of an array, each with one member that is wrong, missing or too many. */
function withOneWrong(value: unknown): unknown[] {
  if (Array.isArray(value)) {
    const replaced = value.flatMap((_, i) => wrong.map((other) => value.with(i, other)));
    return [...replaced, value.slice(1), [...value, undefined]];
  }
  if (typeof value !== "object" || value === null) return [];
  const replaced = Object.keys(value).flatMap((key) => wrong.map((other) => ({ ...value, [key]: other })));
  return [...replaced, withUnknownField(value)];
}

/** `value` with another text for each that is not the name of a case or of an enum's value. */
function withTexts(value: unknown, text: string): unknown {
  if (typeof value === "string") return texts.includes(value) ? text : value;
  if (Array.isArray(value)) return value.map((one) => withTexts(one, text));
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withTexts(one, text)]));
}

/** Every shorter message, every byte changed in several ways (of long messages some), and a longer one. */
function* altered(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += at < 64 ? 1 : 17) {
    yield bytes.slice(0, at);
    for (const byte of [0, 0xff, bytes[at]! ^ 1, bytes[at]! + 8]) yield bytes.with(at, byte);
  }
  yield Uint8Array.from([...bytes, 0]);
}
