/**
 * Values as JSON, by what their codecs are in the protobuf layout: one value in a place of its own, the members of a
 * message, and what a whole codec stands for.
 */
import type { ProtoScalar } from "../../../shared/protobuf/proto-schema.js";
import type { JsonValue } from "../../../shared/vocabulary.js";
import type { Codec } from "../codec.js";
import { type MapPosition, positionOf, type RepeatedPosition } from "../protobuf/position.js";
import {
  choiceOf,
  entryParts,
  isForeign,
  type MembersStructure,
  type Part,
  type Structure,
  structureOf,
} from "../protobuf/structure.js";
import { isRecord } from "../record.js";
import { invalid } from "../refused.js";
import { enumTextOf } from "./enums.js";
import { type JsonRun, jsonFormOf, jsonObject } from "./form.js";
import { keySegment, valueSegment, within } from "./path.js";
import { jsonScalars } from "./scalars.js";

type Entry = readonly [string, JsonValue];

/** The JSON of a codec that stands alone: its own form, or that of the message that it is or stands for. */
export function writeWhole(run: JsonRun, codec: Codec<unknown>, value: unknown): JsonValue {
  const form = jsonFormOf(codec);
  return form === undefined ? writeMessage(run, codec, value) : form.write(run, value);
}

/** One value: an element, a value of a map, a case, a member that is there. */
export function writeValue(run: JsonRun, codec: Codec<unknown>, value: unknown): JsonValue {
  const form = jsonFormOf(codec);
  if (form !== undefined) return form.write(run, value);
  const position = positionOf(codec);
  switch (position.kind) {
    case "scalar":
      return writeScalar(position.scalar, value);
    case "enum":
      return enumTextOf(codec, position.numberOf(value));
    default:
      return writeMessage(run, codec, value);
  }
}

function writeScalar(scalar: ProtoScalar, value: unknown): JsonValue {
  const plain =
    value instanceof Uint8ClampedArray ? new Uint8Array(value.buffer, value.byteOffset, value.length) : value;
  return jsonScalars[scalar].write(plain);
}

function writeMessage(run: JsonRun, codec: Codec<unknown>, value: unknown): JsonValue {
  if (isForeign(codec)) return codec.toJson(value, run.options);
  run.enter();
  const entries = messageEntries(run, structureOf(codec), value);
  run.leave();
  return jsonObject(entries);
}

function messageEntries(run: JsonRun, structure: Structure, value: unknown): Entry[] {
  return structure.kind === "choice" ? choiceEntries(run, structure, value) : memberEntries(run, structure, value);
}

function memberEntries(run: JsonRun, { parts, toRow }: MembersStructure, value: unknown): Entry[] {
  return rowEntries(run, parts, toRow(value));
}

function rowEntries(run: JsonRun, parts: readonly Part[], row: readonly unknown[]): Entry[] {
  return parts.flatMap((part, i) => within(part.segment, () => memberEntry(run, part, row[i])));
}

/** The entry of the case that is there, if this schema knows it. */
function choiceEntries(run: JsonRun, structure: Structure & { readonly kind: "choice" }, value: unknown): Entry[] {
  const found = structure.split(value);
  if (found === undefined) return [];
  const { codec, jsonName, segment } = structure.parts[found.index] as Part;
  return [[jsonName, within(segment, () => writeValue(run, codec, found.value))]];
}

/** None for what is absent, or has its default. */
function memberEntry(run: JsonRun, { codec, jsonName, cases }: Part, value: unknown): Entry[] {
  if (cases !== undefined) return flatEntries(run, codec, cases, value);
  const one = (json: JsonValue): Entry[] => [[jsonName, json]];
  const position = positionOf(codec);
  switch (position.kind) {
    case "maybe":
      return value === position.absent ? [] : one(writeValue(run, position.inner, value));
    case "scalar":
      return position.isDefault(value) ? [] : one(writeValue(run, codec, value));
    case "enum":
      return !position.demanded && position.numberOf(value) === 0 ? [] : one(writeValue(run, codec, value));
    case "message":
      return one(writeValue(run, codec, value));
    case "repeated": {
      const items = writeItems(run, codec, position, value);
      return items.length === 0 ? [] : one(items);
    }
    case "map":
      return writeMap(run, position, value).map((json) => [jsonName, json]);
  }
}

/** A oneof whose cases are fields of the message: with the names that they have there. */
function flatEntries(run: JsonRun, codec: Codec<unknown>, cases: readonly Part[], value: unknown): Entry[] {
  const position = positionOf(codec);
  if (position.kind === "maybe") {
    return value === position.absent ? [] : flatEntries(run, position.inner, cases, value);
  }
  return choiceEntries(run, { ...choiceOf(codec), parts: cases }, value);
}

function writeItems(run: JsonRun, codec: Codec<unknown>, position: RepeatedPosition, value: unknown): JsonValue[] {
  const { element, scalar } = position;
  const like = position.empty();
  if (element === undefined) {
    const type = (like as object).constructor as new () => object;
    if (!(value instanceof type)) throw invalid(codec.name, `a ${codec.name}`, value);
    return Array.from(value as never, (item) => writeScalar(scalar as ProtoScalar, item));
  }
  if (like instanceof Set ? !(value instanceof Set) : !Array.isArray(value)) {
    throw like instanceof Set ? invalid("Set", "a Set", value) : invalid("array", "an array", value);
  }
  return Array.from(value as Iterable<unknown>, (item, i) => within(i, () => writeValue(run, element, item)));
}

/** An object, or a list of entries where keys are none that an object could have. Nothing where there are no entries. */
function writeMap(run: JsonRun, position: MapPosition, value: unknown): JsonValue[] {
  const entries = mapEntries(position, value);
  if (entries.length === 0) return [];
  const { key, value: item } = position;
  if (!position.native) {
    const parts = entryParts(key, item);
    return [entries.map((entry, i) => within(i, () => jsonObject(rowEntries(run, parts, entry))))];
  }
  const written = entries.map(
    ([k, v], i): Entry => [
      String(within(keySegment(i), () => writeValue(run, key, k))),
      within(valueSegment(k), () => writeValue(run, item, v)),
    ],
  );
  return [jsonObject(written)];
}

function mapEntries(position: MapPosition, value: unknown): readonly (readonly [unknown, unknown])[] {
  if (position.empty() instanceof Map) {
    if (!(value instanceof Map)) throw invalid("Map", "a Map", value);
    return [...value];
  }
  if (!isRecord(value)) throw invalid("Record", "an object", value);
  return Object.entries(value);
}
