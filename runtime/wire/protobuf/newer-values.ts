/**
 * Detects values with unknown fields or unknown cases, which came from a process with a newer schema. The lockstep layout
 * cannot encode them, so messages that contain them are sent in the protobuf layout.
 *
 * The search is skipped in a process that has never read such a value.
 */
import type { Codec } from "../codec.js";
import { CodecError } from "../codec-error.js";
import { ownPropertyOf } from "../composed/object.js";
import { hasRead } from "./has-read.js";
import {
  type ChoiceStructure,
  isForeignMessage,
  type MembersStructure,
  structureOf,
  targetOf,
} from "./message-structure.js";
import { protoFormOf } from "./proto-form.js";
import { unknownFields, type WithUnknownFields } from "./unknown-fields.js";

/** The encoder of a message. It can be a codec, which describes the structure of its values. */
type ValueEncoder = Pick<Codec<unknown>, "encodeInto">;

/** Returns whether the lockstep layout would drop unknown fields of `value`. Never throws; the encoder refuses invalid values. */
export function losesInLockstep(encoder: ValueEncoder, value: unknown): boolean {
  return hasRead.unknownFields && holdsUnknownFields(encoder, value);
}

/**
 * Returns whether a value that the lockstep layout refused may come from a newer schema: an unknown case, variant or enum
 * value, which the protobuf layout can encode.
 */
export function mayBeNewer(error: unknown): boolean {
  return hasRead.messages && error instanceof CodecError;
}

function holdsUnknownFields(encoder: ValueEncoder, value: unknown): boolean {
  const { plain = encoder } = encoder as { readonly plain?: ValueEncoder };
  if (!("protoForm" in plain)) return false;
  try {
    return finderOf(plain as ValueEncoder as Codec<unknown>)?.(value) ?? false;
  } catch {
    // The value is invalid or nested too deep. The encoder refuses it with a reason.
    return false;
  }
}

type UnknownFieldFinder = (value: unknown) => boolean;

/** Finders by codec. Null: the values of the codec cannot contain unknown fields. */
const findersByCodec = new WeakMap<Codec<unknown>, UnknownFieldFinder | null>();

/** Returns a function that searches a value for unknown fields, or undefined if the values cannot contain any. */
function finderOf(codec: Codec<unknown>): UnknownFieldFinder | undefined {
  const own = targetOf(codec);
  const known = findersByCodec.get(own);
  if (known !== undefined) return known ?? undefined;
  // A recursive type contains messages, whose values can have unknown fields.
  findersByCodec.set(own, (value) => (findersByCodec.get(own) as UnknownFieldFinder)(value));
  const found = makeFinder(own);
  findersByCodec.set(own, found ?? null);
  return found;
}

function makeFinder(codec: Codec<unknown>): UnknownFieldFinder | undefined {
  const form = protoFormOf(codec);
  switch (form.kind) {
    case "scalar":
    case "enum":
      return undefined;
    case "maybe": {
      const inside = finderOf(form.inner);
      return inside && ((value) => value !== null && value !== undefined && inside(value));
    }
    case "repeated": {
      const element = form.element && finderOf(form.element);
      return element && ((values) => someHolds(values as Iterable<unknown>, element));
    }
    case "map": {
      const [key, value] = [finderOf(form.key), finderOf(form.value)];
      if (key === undefined && value === undefined) return undefined;
      return (map) => {
        if (!(map instanceof Map)) return value !== undefined && someHolds(Object.values(map as object), value);
        return (
          (key !== undefined && someHolds(map.keys(), key)) || (value !== undefined && someHolds(map.values(), value))
        );
      };
    }
    case "message": {
      if (isForeignMessage(codec)) return hasUnknownFields;
      const structure = structureOf(codec);
      return structure.kind === "choice" ? finderOfChoice(structure) : finderOfMembers(structure);
    }
  }
}

function finderOfMembers({ parts, standsFor, toRow }: MembersStructure): UnknownFieldFinder | undefined {
  const inside = parts.map(({ codec }) => finderOf(codec));
  if (standsFor !== undefined) {
    if (inside.every((find) => find === undefined)) return undefined;
    return (value) => toRow(value).some((one, i) => one !== undefined && inside[i]?.(one));
  }
  const members = parts.flatMap(({ segment }, i) => {
    const find = inside[i];
    return find === undefined ? [] : [{ key: segment as string, find }];
  });
  return (value) => {
    if (hasUnknownFields(value)) return true;
    for (const { key, find } of members) {
      const one = ownPropertyOf(value as object, key);
      if (one !== undefined && find(one)) return true;
    }
    return false;
  };
}

function finderOfChoice({ parts, split }: ChoiceStructure): UnknownFieldFinder {
  const inside = parts.map(({ codec }) => finderOf(codec));
  return (value) => {
    if (hasUnknownFields(value)) return true;
    const chosen = split(value);
    return chosen !== undefined && (inside[chosen.index]?.(chosen.value) ?? false);
  };
}

function hasUnknownFields(value: unknown): boolean {
  return (value as WithUnknownFields)[unknownFields] !== undefined;
}

function someHolds(values: Iterable<unknown>, find: UnknownFieldFinder): boolean {
  for (const value of values) if (find(value)) return true;
  return false;
}
