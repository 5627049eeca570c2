/**
 * Values of any codec, made of what it says of its structure: few, the same in every run, and among them of each part what
 * decoders treat differently (absent and present, empty and long, the limits of numbers).
 */
import { type Codec, type JsonValue, unknownFields } from "../../runtime/wire/index.js";
import {
  type MembersStructure,
  presentCodecOf,
  structureOf,
  targetOf,
} from "../../runtime/wire/protobuf/message-structure.js";
import { protoFormOf } from "../../runtime/wire/protobuf/proto-form.js";

const integers = { min: -(2 ** 31), max: 2 ** 31 - 1 };
const json: readonly JsonValue[] = [null, true, -1.5, "json", { a: [false, { b: null }] }, []];

/** Values of strings. */
export const texts: readonly string[] = ["", "text", "Zoë", "日本語", "x".repeat(300)];

/** Values of scalars, by their names in protobuf. The first one is the default. */
const scalars: Readonly<Record<string, readonly unknown[]>> = {
  bool: [false, true],
  double: [0, -1.5, Number.POSITIVE_INFINITY],
  float: [0, 0.25, -0],
  string: texts,
  bytes: [new Uint8Array(0), Uint8Array.of(1, 2, 255)],
  ...Object.fromEntries(
    ["int32", "sint32", "sfixed32"].map((name) => [name, [0, 5, -300, integers.max, integers.min]]),
  ),
  ...Object.fromEntries(["uint32", "fixed32"].map((name) => [name, [0, 127, 128, 2 ** 32 - 1]])),
  ...Object.fromEntries(["int64", "sint64", "sfixed64"].map((name) => [name, [0n, 7n, -(2n ** 63n), 2n ** 63n - 1n]])),
  ...Object.fromEntries(["uint64", "fixed64"].map((name) => [name, [0n, 128n, 2n ** 40n, 2n ** 64n - 1n]])),
};

/** @param depth how many values are around it: types that contain themselves end, and what does not has no samples */
export function samplesOf(codec: Codec<unknown>, depth = 0): readonly unknown[] {
  if (depth > 6) return [];
  const own = targetOf(codec);
  if (own.name === "date") return [new Date(0), new Date(-1), new Date(1_700_000_000_123)];
  if (own.name === "JsonValue") return json;
  if (own.name === "Struct") return [{}, { a: 1, __b: [null] }];
  if (own.name === "ListValue") return [[], [1, ["x"]]];
  if ((own as { handle?: string }).handle !== undefined) return ["a handle"];
  const position = protoFormOf(codec);
  switch (position.kind) {
    case "scalar":
      if (position.zero() instanceof Uint8ClampedArray) return [new Uint8ClampedArray(0), Uint8ClampedArray.of(9, 255)];
      return scalars[position.scalar] ?? [];
    case "enum":
      return position.values.map(({ value }) => value);
    case "maybe":
      return depth > 2 ? [position.absent] : [position.absent, ...samplesOf(position.inner, depth + 1)];
    case "repeated": {
      const { element, scalar } = position;
      const empty = position.empty() as object;
      if (element === undefined) {
        const { from } = empty.constructor as unknown as { from(items: readonly unknown[]): unknown };
        const items = String(scalar).endsWith("64") ? [1n, 2n ** 62n] : [1, 100];
        return [empty, from.call(empty.constructor, items)];
      }
      const items = depth > 2 ? [] : samplesOf(element, depth + 1);
      return empty instanceof Set ? [empty, new Set(items)] : [empty, [...items], items.slice(0, 1)];
    }
    case "map": {
      const [keys, values] = [position.key, position.value].map((part) =>
        depth > 2 ? [] : samplesOf(part, depth + 1),
      );
      const entries = (keys ?? []).map((key, i) => [key, values?.[i % values.length]] as const);
      const isMap = position.empty() instanceof Map;
      return [position.empty(), isMap ? new Map(entries) : Object.fromEntries(entries as [string, unknown][])];
    }
    case "message": {
      const structure = structureOf(codec);
      if (structure.kind === "members") return rows(structure, depth);
      const values = structure.parts.map((part, index) =>
        samplesOf(part.codec, depth + 1).map((value) => structure.join(index, value)),
      );
      return depth > 2 ? values.flat().slice(0, 1) : values.flat();
    }
  }
}

/** Returns as many values as the member with the most samples has. The samples of other members repeat. */
function rows({ parts, fromRow }: MembersStructure, depth: number): readonly unknown[] {
  const members = parts.map(({ codec, cases }) => {
    const values = samplesOf(cases === undefined ? codec : presentCodecOf(codec), depth + 1);
    return cases !== undefined && presentCodecOf(codec) !== codec
      ? [(protoFormOf(codec) as { absent?: null }).absent, ...values]
      : values;
  });
  if (members.some((values) => values.length === 0)) return [];
  const count = Math.max(1, ...members.map((values) => values.length));
  return Array.from({ length: depth > 2 ? 1 : count }, (_, i) =>
    fromRow(members.map((values) => values[i % values.length])),
  );
}

/** `value` with a field that no schema has. */
export function withUnknownField(value: object): object {
  return { ...value, [unknownFields]: Uint8Array.of(0xf8, 0xff, 0xff, 0xff, 0x0f, 1) };
}
