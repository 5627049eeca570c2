/**
 * JSON as values, by what their codecs are in the protobuf layout. What was parsed comes from anywhere: it is checked as
 * if it were bytes.
 */
import type { ProtoScalar } from "../../../shared/protobuf/proto-schema.js";
import type { Codec } from "../codec.js";
import { type MapPosition, positionOf, type RepeatedPosition, type ScalarPosition } from "../protobuf/position.js";
import {
  type ChoiceStructure,
  choiceOf,
  entryParts,
  isForeign,
  type MembersStructure,
  type Part,
  presentOf,
  structureOf,
} from "../protobuf/structure.js";
import { invalid, located, Refused, show } from "../refused.js";
import { readEnum, unknownName } from "./enums.js";
import { isJsonObject, type JsonRun, jsonFormOf } from "./form.js";
import { keySegment, valueSegment, within } from "./path.js";
import { jsonScalars, readKey } from "./scalars.js";

/** The value of a codec that stands alone. */
export function readWhole(run: JsonRun, codec: Codec<unknown>, json: unknown): unknown {
  const form = jsonFormOf(codec);
  return form === undefined ? readMessage(run, codec, json) : form.read(run, json);
}

/** One value; `unknownName` for a name that an enum does not have, if that is to be ignored. */
export function readValue(run: JsonRun, codec: Codec<unknown>, json: unknown): unknown {
  const form = jsonFormOf(codec);
  if (form !== undefined) return form.read(run, json);
  const position = positionOf(codec);
  switch (position.kind) {
    case "scalar": {
      const value = jsonScalars[position.scalar].read(json);
      const isClamped = position.zero() instanceof Uint8ClampedArray;
      return isClamped ? new Uint8ClampedArray((value as Uint8Array<ArrayBuffer>).buffer) : value;
    }
    case "enum":
      return readEnum(codec, json, run.ignoreUnknown);
    default:
      return readMessage(run, codec, json);
  }
}

function readMessage(run: JsonRun, codec: Codec<unknown>, json: unknown): unknown {
  if (isForeign(codec)) return codec.fromJson(json, run.options);
  const structure = structureOf(codec);
  if (!isJsonObject(json)) throw invalid(codec.name || "message", "an object", json);
  run.enter();
  const value =
    structure.kind === "members"
      ? readMembers(run, structure, json)
      : readChoice(run, codec, structure, givenOf(run, structure.parts, json));
  run.leave();
  return value;
}

/** What JSON has for the parts of a message. Null is as if nothing was there. */
interface Given {
  readonly json: ReadonlyMap<Part, unknown>;
  /** Whether there was more. */
  readonly hasUnknown: boolean;
}

function givenOf(run: JsonRun, parts: readonly Part[], json: Readonly<Record<string, unknown>>): Given {
  const fields = parts.flatMap((part) => part.cases ?? [part]);
  const byName = new Map(fields.map((part) => [part.name, part]));
  for (const part of fields) byName.set(part.jsonName, part);
  const given = new Map<Part, unknown>();
  const keys = new Map<Part, string>();
  let hasUnknown = false;
  for (const [key, value] of Object.entries(json)) {
    const part = byName.get(key);
    if (part === undefined) {
      if (!run.ignoreUnknown) throw located(new Refused("there is no such field"), key);
      hasUnknown = true;
      continue;
    }
    const other = keys.get(part);
    if (other !== undefined) throw new Refused(`${show(other)} and ${show(key)} are the same field`);
    keys.set(part, key);
    if (value !== null || jsonFormOf(presentOf(part.codec))?.ofNull !== undefined) given.set(part, value);
  }
  return { json: given, hasUnknown };
}

function readMembers(
  run: JsonRun,
  structure: Pick<MembersStructure, "parts" | "fromRow">,
  json: Readonly<Record<string, unknown>>,
): unknown {
  const { parts } = structure;
  const given = givenOf(run, parts, json);
  return structure.fromRow(parts.map((part) => within(part.segment, () => readMember(run, part, given))));
}

function readMember(run: JsonRun, part: Part, given: Given): unknown {
  const { codec, cases } = part;
  if (cases !== undefined) return readFlat(run, codec, cases, given);
  if (!given.json.has(part)) return absentValue(run, codec);
  const value = readPresent(run, codec, given.json.get(part));
  return value === unknownName ? absentValue(run, codec) : value;
}

function readPresent(run: JsonRun, codec: Codec<unknown>, json: unknown): unknown {
  const position = positionOf(codec);
  switch (position.kind) {
    case "maybe":
      return readValue(run, position.inner, json);
    case "repeated":
      return readItems(run, codec, position, json);
    case "map":
      return readMap(run, codec, position, json);
    default:
      return readValue(run, codec, json);
  }
}

/** What stands for a member that is not there. */
function absentValue(run: JsonRun, codec: Codec<unknown>): unknown {
  const position = positionOf(codec);
  switch (position.kind) {
    case "maybe":
      return position.absent;
    case "repeated":
    case "map":
      return position.empty();
    case "scalar":
      return position.zero();
    case "enum":
      if (position.demanded) throw new Refused("it is missing, and has no default");
      return position.valueOf(0);
    case "message": {
      const form = jsonFormOf(codec);
      return form === undefined ? readMessage(run, codec, {}) : form.absent();
    }
  }
}

/** A oneof whose cases are fields of the message. */
function readFlat(run: JsonRun, codec: Codec<unknown>, cases: readonly Part[], given: Given): unknown {
  const position = positionOf(codec);
  if (position.kind === "maybe" && !cases.some((part) => given.json.has(part))) return position.absent;
  return readChoice(run, presentOf(codec), { ...choiceOf(codec), parts: cases }, given);
}

function readChoice(run: JsonRun, codec: Codec<unknown>, structure: ChoiceStructure, given: Given): unknown {
  const { parts } = structure;
  const there = parts.flatMap((part, index) => (given.json.has(part) ? [{ part, index }] : []));
  const [first, second] = there;
  if (first !== undefined && second !== undefined) {
    const both = `${show(first.part.jsonName)} and ${show(second.part.jsonName)}`;
    throw new Refused(`${both} are cases of the same oneof`);
  }
  if (first === undefined) {
    if (given.hasUnknown) return structure.join(undefined, undefined);
    const names = parts.map(({ jsonName }) => show(jsonName)).join(", ");
    throw new Refused(`invalid ${codec.name || structure.standsFor}: expected one of ${names}, got none of them`);
  }
  const value = within(first.part.segment, () => readValue(run, first.part.codec, given.json.get(first.part)));
  return value === unknownName ? structure.join(undefined, undefined) : structure.join(first.index, value);
}

function readItems(run: JsonRun, codec: Codec<unknown>, position: RepeatedPosition, json: unknown): unknown {
  if (!Array.isArray(json)) throw invalid(codec.name, "an array", json);
  const { element, scalar } = position;
  if (element === undefined) return readTyped(codec, position, scalar as ProtoScalar, json);
  const items = json
    .map((item, i) => within(i, () => readValue(run, element, item)))
    .filter((item) => item !== unknownName);
  return position.empty() instanceof Set ? new Set(items) : items;
}

interface NumericArray {
  readonly [index: number]: number | bigint;
}

/** Of elements that have fewer values than their scalar. */
const ranges: Readonly<Record<string, string>> = {
  Int8Array: "an integer from -128 to 127",
  Int16Array: "an integer from -32768 to 32767",
  Uint16Array: "an integer from 0 to 65535",
};

/** What an element cannot hold is refused, not cut. */
function readTyped(
  codec: Codec<unknown>,
  position: RepeatedPosition,
  scalar: ProtoScalar,
  json: readonly unknown[],
): unknown {
  const items = json.map((item, i) => within(i, () => jsonScalars[scalar].read(item))) as (number | bigint)[];
  const type = (position.empty() as object).constructor as unknown as { from(items: unknown[]): NumericArray };
  const array = type.from(items);
  const lost = items.findIndex((item, i) => !Object.is(array[i], item));
  if (lost >= 0) {
    const expected = ranges[(position.empty() as object).constructor.name] ?? "an element in range";
    throw located(invalid(codec.name, expected, items[lost]), lost);
  }
  return array;
}

function readMap(run: JsonRun, codec: Codec<unknown>, position: MapPosition, json: unknown): unknown {
  const entries = position.native ? readNative(run, codec, position, json) : readEntries(run, codec, position, json);
  const known = entries.filter(([, value]) => value !== unknownName);
  if (!(position.empty() instanceof Map)) return Object.fromEntries(known as [string, unknown][]);
  const map = new Map(known);
  if (map.size < known.length) throw new Refused(`invalid Map: a key is in it twice`);
  return map;
}

type Entries = readonly (readonly [unknown, unknown])[];

function readNative(run: JsonRun, codec: Codec<unknown>, { key, value }: MapPosition, json: unknown): Entries {
  if (!isJsonObject(json)) throw invalid(codec.name, "an object", json);
  const { scalar } = positionOf(key) as ScalarPosition;
  return Object.entries(json).map(([text, item], i) => [
    within(keySegment(i), () => readKey(scalar, text)),
    within(valueSegment(text), () => readValue(run, value, item)),
  ]);
}

/** Entries that protobuf has no maps for: messages with `key` and `value`. */
function readEntries(run: JsonRun, codec: Codec<unknown>, { key, value }: MapPosition, json: unknown): Entries {
  if (!Array.isArray(json)) throw invalid(codec.name, "an array of entries", json);
  const structure = { parts: entryParts(key, value), fromRow: (row: readonly unknown[]) => row };
  return json.map((entry, i) =>
    within(i, () => {
      if (!isJsonObject(entry)) throw invalid("entry", "an object", entry);
      return readMembers(run, structure, entry) as readonly [unknown, unknown];
    }),
  );
}
