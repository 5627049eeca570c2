/**
 * Values that say more than this process's schema does: they came from a process with a newer one, in the protobuf layout. The
 * lockstep layout has no room for what they say, so messages that hold any go on in the protobuf layout.
 *
 * A process that has never read such a value does not look for them.
 */
import type { Codec } from "../codec.js";
import { property } from "../composed/object.js";
import { CodecError } from "../errors.js";
import { positionOf } from "./position.js";
import { hasRead } from "./read-so-far.js";
import { type ChoiceStructure, isForeign, type MembersStructure, structureOf, targetOf } from "./structure.js";
import { unknownFields, type WithUnknownFields } from "./unknown.js";

/** What encodes a message. That of whole values says what they consist of. */
type Encodes = Pick<Codec<unknown>, "encodeInto">;

/** Whether the lockstep layout would drop something of `value`. Never throws: what is wrong with a value, its encoder says. */
export function losesInLockstep(encoder: Encodes, value: unknown): boolean {
  return hasRead.unknownFields && holdsUnknownFields(encoder, value);
}

/**
 * Whether what the lockstep layout has refused may be a value that a newer schema has: a case, a variant or a value of an enum
 * that is unknown here, and that the protobuf layout takes.
 */
export function mayBeNewer(error: unknown): boolean {
  return hasRead.messages && error instanceof CodecError;
}

function holdsUnknownFields(encoder: Encodes, value: unknown): boolean {
  const { plain = encoder } = encoder as { readonly plain?: Encodes };
  if (!("position" in plain)) return false;
  try {
    return finderOf(plain as Encodes as Codec<unknown>)?.(value) ?? false;
  } catch {
    // It is not of its type, or too deep: its encoder refuses it, and says why.
    return false;
  }
}

type Finder = (value: unknown) => boolean;

/** By codec; null: nothing that it encodes keeps unknown fields. */
const finders = new WeakMap<Codec<unknown>, Finder | null>();

/** Whether there are unknown fields in a value, as a function that looks at nothing but what can hold some. */
function finderOf(codec: Codec<unknown>): Finder | undefined {
  const own = targetOf(codec);
  const known = finders.get(own);
  if (known !== undefined) return known ?? undefined;
  // A type that contains itself contains messages, which keep unknown fields.
  finders.set(own, (value) => (finders.get(own) as Finder)(value));
  const found = makeFinder(own);
  finders.set(own, found ?? null);
  return found;
}

function makeFinder(codec: Codec<unknown>): Finder | undefined {
  const position = positionOf(codec);
  switch (position.kind) {
    case "scalar":
    case "enum":
      return undefined;
    case "maybe": {
      const inside = finderOf(position.inner);
      return inside && ((value) => value !== null && value !== undefined && inside(value));
    }
    case "repeated": {
      const element = position.element && finderOf(position.element);
      return element && ((values) => some(values as Iterable<unknown>, element));
    }
    case "map": {
      const [key, value] = [finderOf(position.key), finderOf(position.value)];
      if (key === undefined && value === undefined) return undefined;
      return (map) => {
        if (!(map instanceof Map)) return value !== undefined && some(Object.values(map as object), value);
        return (key !== undefined && some(map.keys(), key)) || (value !== undefined && some(map.values(), value));
      };
    }
    case "message": {
      if (isForeign(codec)) return hasUnknownFields;
      const structure = structureOf(codec);
      return structure.kind === "choice" ? ofChoice(structure) : ofMembers(structure);
    }
  }
}

function ofMembers({ parts, standsFor, toRow }: MembersStructure): Finder | undefined {
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
      const one = property(value as object, key);
      if (one !== undefined && find(one)) return true;
    }
    return false;
  };
}

function ofChoice({ parts, split }: ChoiceStructure): Finder {
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

function some(values: Iterable<unknown>, find: Finder): boolean {
  for (const value of values) if (find(value)) return true;
  return false;
}
