/**
 * Converts JSON to values, by the forms of their codecs in the protobuf layout. The JSON is not trusted and checked like
 * bytes.
 */

import type { ProtoScalar } from "../../../shared/protobuf/proto-schema.js";
import { describeValue } from "../../../shared/text/describe-value.js";
import type { Codec } from "../codec.js";
import { CodecRefusal, invalidValue, withPathSegment } from "../codec-refusal.js";
import {
  type ChoiceStructure,
  choiceOf,
  entryParts,
  isForeignMessage,
  type MembersStructure,
  type MessagePart,
  presentCodecOf,
  structureOf,
} from "../protobuf/message-structure.js";
import {
  type ProtoMapForm,
  type ProtoRepeatedForm,
  type ProtoScalarForm,
  protoFormOf,
} from "../protobuf/proto-form.js";
import { readEnum, unknownName } from "./enums.js";
import { atSegment, keySegment, valueSegment } from "./error-path.js";
import { isJsonObject, type JsonConversion, jsonFormOf } from "./json-form.js";
import { jsonScalars, readKey } from "./scalars.js";

/** Reads a whole message or a value outside of a message. */
export function readWhole(run: JsonConversion, codec: Codec<unknown>, json: unknown): unknown {
  const form = jsonFormOf(codec);
  return form === undefined ? readMessage(run, codec, json) : form.read(run, json);
}

/** Reads one value. Returns `unknownName` for an unknown enum name that is ignored. */
export function readValue(run: JsonConversion, codec: Codec<unknown>, json: unknown): unknown {
  const form = jsonFormOf(codec);
  if (form !== undefined) return form.read(run, json);
  const protoForm = protoFormOf(codec);
  switch (protoForm.kind) {
    case "scalar": {
      const value = jsonScalars[protoForm.scalar].read(json);
      const isClamped = protoForm.zero() instanceof Uint8ClampedArray;
      return isClamped ? new Uint8ClampedArray((value as Uint8Array<ArrayBuffer>).buffer) : value;
    }
    case "enum":
      return readEnum(codec, json, run.ignoreUnknown);
    default:
      return readMessage(run, codec, json);
  }
}

function readMessage(run: JsonConversion, codec: Codec<unknown>, json: unknown): unknown {
  if (isForeignMessage(codec)) return codec.fromJson(json, run.options);
  const structure = structureOf(codec);
  if (!isJsonObject(json)) throw invalidValue(codec.name || "message", "an object", json);
  run.enter();
  const value =
    structure.kind === "members"
      ? readMembers(run, structure, json)
      : readChoice(run, codec, structure, givenMembersOf(run, structure.parts, json));
  run.leave();
  return value;
}

/** The members of a JSON object by the parts of the message. A member that is null counts as missing. */
interface GivenMembers {
  readonly json: ReadonlyMap<MessagePart, unknown>;
  /** Whether the object has unknown members. */
  readonly hasUnknown: boolean;
}

function givenMembersOf(
  run: JsonConversion,
  parts: readonly MessagePart[],
  json: Readonly<Record<string, unknown>>,
): GivenMembers {
  const fields = parts.flatMap((part) => part.cases ?? [part]);
  const byName = new Map(fields.map((part) => [part.name, part]));
  for (const part of fields) byName.set(part.jsonName, part);
  const given = new Map<MessagePart, unknown>();
  const keys = new Map<MessagePart, string>();
  let hasUnknown = false;
  for (const [key, value] of Object.entries(json)) {
    const part = byName.get(key);
    if (part === undefined) {
      if (!run.ignoreUnknown) throw withPathSegment(new CodecRefusal("there is no such field"), key);
      hasUnknown = true;
      continue;
    }
    const other = keys.get(part);
    if (other !== undefined)
      throw new CodecRefusal(`${describeValue(other)} and ${describeValue(key)} are the same field`);
    keys.set(part, key);
    if (value !== null || jsonFormOf(presentCodecOf(part.codec))?.nullValue !== undefined) given.set(part, value);
  }
  return { json: given, hasUnknown };
}

function readMembers(
  run: JsonConversion,
  structure: Pick<MembersStructure, "parts" | "fromRow">,
  json: Readonly<Record<string, unknown>>,
): unknown {
  const { parts } = structure;
  const given = givenMembersOf(run, parts, json);
  return structure.fromRow(parts.map((part) => atSegment(part.segment, () => readMember(run, part, given))));
}

function readMember(run: JsonConversion, part: MessagePart, given: GivenMembers): unknown {
  const { codec, cases } = part;
  if (cases !== undefined) return readFlat(run, codec, cases, given);
  if (!given.json.has(part)) return absentValue(run, codec);
  const value = readPresent(run, codec, given.json.get(part));
  return value === unknownName ? absentValue(run, codec) : value;
}

function readPresent(run: JsonConversion, codec: Codec<unknown>, json: unknown): unknown {
  const protoForm = protoFormOf(codec);
  switch (protoForm.kind) {
    case "maybe":
      return readValue(run, protoForm.inner, json);
    case "repeated":
      return readItems(run, codec, protoForm, json);
    case "map":
      return readMap(run, codec, protoForm, json);
    default:
      return readValue(run, codec, json);
  }
}

/** Returns the value of a member that is missing. */
function absentValue(run: JsonConversion, codec: Codec<unknown>): unknown {
  const protoForm = protoFormOf(codec);
  switch (protoForm.kind) {
    case "maybe":
      return protoForm.absent;
    case "repeated":
    case "map":
      return protoForm.empty();
    case "scalar":
      return protoForm.zero();
    case "enum":
      if (protoForm.isRequired) throw new CodecRefusal("it is missing, and has no default");
      return protoForm.valueOf(0);
    case "message": {
      const form = jsonFormOf(codec);
      return form === undefined ? readMessage(run, codec, {}) : form.absent();
    }
  }
}

/** Reads a flat oneof, whose cases are members of the message. */
function readFlat(
  run: JsonConversion,
  codec: Codec<unknown>,
  cases: readonly MessagePart[],
  given: GivenMembers,
): unknown {
  const protoForm = protoFormOf(codec);
  if (protoForm.kind === "maybe" && !cases.some((part) => given.json.has(part))) return protoForm.absent;
  return readChoice(run, presentCodecOf(codec), { ...choiceOf(codec), parts: cases }, given);
}

function readChoice(
  run: JsonConversion,
  codec: Codec<unknown>,
  structure: ChoiceStructure,
  given: GivenMembers,
): unknown {
  const { parts } = structure;
  const there = parts.flatMap((part, index) => (given.json.has(part) ? [{ part, index }] : []));
  const [first, second] = there;
  if (first !== undefined && second !== undefined) {
    const both = `${describeValue(first.part.jsonName)} and ${describeValue(second.part.jsonName)}`;
    throw new CodecRefusal(`${both} are cases of the same oneof`);
  }
  if (first === undefined) {
    if (given.hasUnknown) return structure.join(undefined, undefined);
    const names = parts.map(({ jsonName }) => describeValue(jsonName)).join(", ");
    throw new CodecRefusal(`invalid ${codec.name || structure.standsFor}: expected one of ${names}, got none of them`);
  }
  const value = atSegment(first.part.segment, () => readValue(run, first.part.codec, given.json.get(first.part)));
  return value === unknownName ? structure.join(undefined, undefined) : structure.join(first.index, value);
}

function readItems(run: JsonConversion, codec: Codec<unknown>, protoForm: ProtoRepeatedForm, json: unknown): unknown {
  if (!Array.isArray(json)) throw invalidValue(codec.name, "an array", json);
  const { element, scalar } = protoForm;
  if (element === undefined) return readTypedArray(codec, protoForm, scalar as ProtoScalar, json);
  const items = json
    .map((item, i) => atSegment(i, () => readValue(run, element, item)))
    .filter((item) => item !== unknownName);
  return protoForm.empty() instanceof Set ? new Set(items) : items;
}

interface NumericArray {
  readonly [index: number]: number | bigint;
}

/** The ranges of array elements that have fewer values than their scalar type. */
const ranges: Readonly<Record<string, string>> = {
  Int8Array: "an integer from -128 to 127",
  Int16Array: "an integer from -32768 to 32767",
  Uint16Array: "an integer from 0 to 65535",
};

/** Reads a typed array. Refuses a number that an element cannot represent. */
function readTypedArray(
  codec: Codec<unknown>,
  protoForm: ProtoRepeatedForm,
  scalar: ProtoScalar,
  json: readonly unknown[],
): unknown {
  const items = json.map((item, i) => atSegment(i, () => jsonScalars[scalar].read(item))) as (number | bigint)[];
  const type = (protoForm.empty() as object).constructor as unknown as { from(items: unknown[]): NumericArray };
  const array = type.from(items);
  const lost = items.findIndex((item, i) => !Object.is(array[i], item));
  if (lost >= 0) {
    const expected = ranges[(protoForm.empty() as object).constructor.name] ?? "an element in range";
    throw withPathSegment(invalidValue(codec.name, expected, items[lost]), lost);
  }
  return array;
}

function readMap(run: JsonConversion, codec: Codec<unknown>, protoForm: ProtoMapForm, json: unknown): unknown {
  const entries = protoForm.isNativeMap
    ? readNativeMap(run, codec, protoForm, json)
    : readEntries(run, codec, protoForm, json);
  const known = entries.filter(([, value]) => value !== unknownName);
  if (!(protoForm.empty() instanceof Map)) return Object.fromEntries(known as [string, unknown][]);
  const map = new Map(known);
  if (map.size < known.length) throw new CodecRefusal(`invalid Map: a key is in it twice`);
  return map;
}

type Entries = readonly (readonly [unknown, unknown])[];

function readNativeMap(
  run: JsonConversion,
  codec: Codec<unknown>,
  { key, value }: ProtoMapForm,
  json: unknown,
): Entries {
  if (!isJsonObject(json)) throw invalidValue(codec.name, "an object", json);
  const { scalar } = protoFormOf(key) as ProtoScalarForm;
  return Object.entries(json).map(([text, item], i) => [
    atSegment(keySegment(i), () => readKey(scalar, text)),
    atSegment(valueSegment(text), () => readValue(run, value, item)),
  ]);
}

/** Reads the entries of a map that protobuf does not support: messages with `key` and `value`. */
function readEntries(run: JsonConversion, codec: Codec<unknown>, { key, value }: ProtoMapForm, json: unknown): Entries {
  if (!Array.isArray(json)) throw invalidValue(codec.name, "an array of entries", json);
  const structure = { parts: entryParts(key, value), fromRow: (row: readonly unknown[]) => row };
  return json.map((entry, i) =>
    atSegment(i, () => {
      if (!isJsonObject(entry)) throw invalidValue("entry", "an object", entry);
      return readMembers(run, structure, entry) as readonly [unknown, unknown];
    }),
  );
}
