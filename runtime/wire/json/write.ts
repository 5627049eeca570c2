/**
 * Converts values to JSON, by the forms of their codecs in the protobuf layout.
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

/** Returns the JSON of a whole message: its special form, or an object. A value that is not a message is its only member. */
export function writeWhole(run: JsonConversion, codec: Codec<unknown>, value: unknown): JsonValue {
  const form = jsonFormOf(codec);
  return form === undefined ? writeMessage(run, codec, value) : form.write(run, value);
}

/** Returns the JSON of one value: an element, a value of a map, a case or a present member. */
export function writeValue(run: JsonConversion, codec: Codec<unknown>, value: unknown): JsonValue {
  const form = jsonFormOf(codec);
  if (form !== undefined) return form.write(run, value);
  const protoForm = protoFormOf(codec);
  switch (protoForm.kind) {
    case "scalar":
      return writeScalar(protoForm.scalar, value);
    case "enum":
      return enumTextOf(codec, protoForm.numberOf(value));
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

/** Returns the entry of the present case, or none if the schema does not have the case. */
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

/** Returns the entries of a member: none if it is absent or has its default. */
function memberEntry(run: JsonConversion, { codec, jsonName, cases }: MessagePart, value: unknown): Entry[] {
  if (cases !== undefined) return flatEntries(run, codec, cases, value);
  const one = (json: JsonValue): Entry[] => [[jsonName, json]];
  const protoForm = protoFormOf(codec);
  switch (protoForm.kind) {
    case "maybe":
      return value === protoForm.absent ? [] : one(writeValue(run, protoForm.inner, value));
    case "scalar":
      return protoForm.isDefault(value) ? [] : one(writeValue(run, codec, value));
    case "enum":
      return !protoForm.isRequired && protoForm.numberOf(value) === 0 ? [] : one(writeValue(run, codec, value));
    case "message":
      return one(writeValue(run, codec, value));
    case "repeated": {
      const items = writeItems(run, codec, protoForm, value);
      return items.length === 0 ? [] : one(items);
    }
    case "map":
      return writeMap(run, protoForm, value).map((json) => [jsonName, json]);
  }
}

/** Returns the entries of a flat oneof, whose cases are members of the message. */
function flatEntries(
  run: JsonConversion,
  codec: Codec<unknown>,
  cases: readonly MessagePart[],
  value: unknown,
): Entry[] {
  const protoForm = protoFormOf(codec);
  if (protoForm.kind === "maybe") {
    return value === protoForm.absent ? [] : flatEntries(run, protoForm.inner, cases, value);
  }
  return choiceEntries(run, { ...choiceOf(codec), parts: cases }, value);
}

function writeItems(
  run: JsonConversion,
  codec: Codec<unknown>,
  protoForm: ProtoRepeatedForm,
  value: unknown,
): JsonValue[] {
  const { element, scalar } = protoForm;
  const like = protoForm.empty();
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

/** Returns a map as an object, or as a list of entries if its keys cannot be member names; nothing for an empty map. */
function writeMap(run: JsonConversion, protoForm: ProtoMapForm, value: unknown): JsonValue[] {
  const entries = mapEntries(protoForm, value);
  if (entries.length === 0) return [];
  const { key, value: item } = protoForm;
  if (!protoForm.isNativeMap) {
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

function mapEntries(protoForm: ProtoMapForm, value: unknown): readonly (readonly [unknown, unknown])[] {
  if (protoForm.empty() instanceof Map) {
    if (!(value instanceof Map)) throw invalidValue("Map", "a Map", value);
    return [...value];
  }
  if (!isRecord(value)) throw invalidValue("Record", "an object", value);
  return Object.entries(value);
}
