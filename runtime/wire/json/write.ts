/**
 * Values as JSON, by what their codecs are in the protobuf layout: one value in a place of its own, the members of a
 * message, and what a whole codec stands for.
 */
import type { ProtoScalar } from "../../../shared/protobuf/proto-schema.js";
import type { JsonValue } from "../../../shared/vocabulary.js";
import type { Codec } from "../codec.js";
import { invalidValue } from "../codec-refusal.js";
import { isRecord } from "../is-record.js";
import {
  choiceOf,
  entryParts,
  isForeignMessage,
  type MembersStructure,
  type MessagePart,
  type Structure,
  structureOf,
} from "../protobuf/message-structure.js";
import { type ProtoMapForm, type ProtoRepeatedForm, protoFormOf } from "../protobuf/proto-form.js";
import { enumTextOf } from "./enums.js";
import { atSegment, keySegment, valueSegment } from "./error-path.js";
import { type JsonConversion, jsonFormOf, jsonObject } from "./json-form.js";
import { jsonScalars } from "./scalars.js";

type Entry = readonly [string, JsonValue];

/** The JSON of a codec that stands alone: its own form, or that of the message that it is or stands for. */
export function writeWhole(run: JsonConversion, codec: Codec<unknown>, value: unknown): JsonValue {
  const form = jsonFormOf(codec);
  return form === undefined ? writeMessage(run, codec, value) : form.write(run, value);
}

/** One value: an element, a value of a map, a case, a member that is there. */
export function writeValue(run: JsonConversion, codec: Codec<unknown>, value: unknown): JsonValue {
  const form = jsonFormOf(codec);
  if (form !== undefined) return form.write(run, value);
  const position = protoFormOf(codec);
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

function writeMessage(run: JsonConversion, codec: Codec<unknown>, value: unknown): JsonValue {
  if (isForeignMessage(codec)) return codec.toJson(value, run.options);
  run.enter();
  const entries = messageEntries(run, structureOf(codec), value);
  run.leave();
  return jsonObject(entries);
}

function messageEntries(run: JsonConversion, structure: Structure, value: unknown): Entry[] {
  return structure.kind === "choice" ? choiceEntries(run, structure, value) : memberEntries(run, structure, value);
}

function memberEntries(run: JsonConversion, { parts, toRow }: MembersStructure, value: unknown): Entry[] {
  return rowEntries(run, parts, toRow(value));
}

function rowEntries(run: JsonConversion, parts: readonly MessagePart[], row: readonly unknown[]): Entry[] {
  return parts.flatMap((part, i) => atSegment(part.segment, () => memberEntry(run, part, row[i])));
}

/** The entry of the case that is there, if this schema knows it. */
function choiceEntries(
  run: JsonConversion,
  structure: Structure & { readonly kind: "choice" },
  value: unknown,
): Entry[] {
  const found = structure.split(value);
  if (found === undefined) return [];
  const { codec, jsonName, segment } = structure.parts[found.index] as MessagePart;
  return [[jsonName, atSegment(segment, () => writeValue(run, codec, found.value))]];
}

/** None for what is absent, or has its default. */
function memberEntry(run: JsonConversion, { codec, jsonName, cases }: MessagePart, value: unknown): Entry[] {
  if (cases !== undefined) return flatEntries(run, codec, cases, value);
  const one = (json: JsonValue): Entry[] => [[jsonName, json]];
  const position = protoFormOf(codec);
  switch (position.kind) {
    case "maybe":
      return value === position.absent ? [] : one(writeValue(run, position.inner, value));
    case "scalar":
      return position.isDefault(value) ? [] : one(writeValue(run, codec, value));
    case "enum":
      return !position.isRequired && position.numberOf(value) === 0 ? [] : one(writeValue(run, codec, value));
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
function flatEntries(
  run: JsonConversion,
  codec: Codec<unknown>,
  cases: readonly MessagePart[],
  value: unknown,
): Entry[] {
  const position = protoFormOf(codec);
  if (position.kind === "maybe") {
    return value === position.absent ? [] : flatEntries(run, position.inner, cases, value);
  }
  return choiceEntries(run, { ...choiceOf(codec), parts: cases }, value);
}

function writeItems(
  run: JsonConversion,
  codec: Codec<unknown>,
  position: ProtoRepeatedForm,
  value: unknown,
): JsonValue[] {
  const { element, scalar } = position;
  const like = position.empty();
  if (element === undefined) {
    const type = (like as object).constructor as new () => object;
    if (!(value instanceof type)) throw invalidValue(codec.name, `a ${codec.name}`, value);
    return Array.from(value as never, (item) => writeScalar(scalar as ProtoScalar, item));
  }
  if (like instanceof Set ? !(value instanceof Set) : !Array.isArray(value)) {
    throw like instanceof Set ? invalidValue("Set", "a Set", value) : invalidValue("array", "an array", value);
  }
  return Array.from(value as Iterable<unknown>, (item, i) => atSegment(i, () => writeValue(run, element, item)));
}

/** An object, or a list of entries where keys are none that an object could have. Nothing where there are no entries. */
function writeMap(run: JsonConversion, position: ProtoMapForm, value: unknown): JsonValue[] {
  const entries = mapEntries(position, value);
  if (entries.length === 0) return [];
  const { key, value: item } = position;
  if (!position.isNativeMap) {
    const parts = entryParts(key, item);
    return [entries.map((entry, i) => atSegment(i, () => jsonObject(rowEntries(run, parts, entry))))];
  }
  const written = entries.map(
    ([k, v], i): Entry => [
      String(atSegment(keySegment(i), () => writeValue(run, key, k))),
      atSegment(valueSegment(k), () => writeValue(run, item, v)),
    ],
  );
  return [jsonObject(written)];
}

function mapEntries(position: ProtoMapForm, value: unknown): readonly (readonly [unknown, unknown])[] {
  if (position.empty() instanceof Map) {
    if (!(value instanceof Map)) throw invalidValue("Map", "a Map", value);
    return [...value];
  }
  if (!isRecord(value)) throw invalidValue("Record", "an object", value);
  return Object.entries(value);
}
