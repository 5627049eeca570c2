/**
 * The structure of a message in the protobuf layout: its members, or the cases of a oneof. The JSON mapping and schema
 * descriptions use it. Codecs of messages have a `structure`; every other codec is written as a message with one member.
 */
import { handlePackage, memberNames, protoName } from "../../../shared/protobuf/names.js";
import type { Codec } from "../codec.js";
import type { PathSegment } from "../codec-refusal.js";
import { protoFormOf } from "./proto-form.js";

/** A member of a message, or a case of a choice. */
export interface MessagePart {
  readonly codec: Codec<unknown>;
  /** The path segment in errors. */
  readonly segment: PathSegment;
  readonly number: number;
  /** The field name in protobuf. */
  readonly name: string;
  readonly jsonName: string;
  /** The name in JSON that the `@json` tag sets. */
  readonly json?: string;
  /** The cases of a flat oneof. They are fields of this message, so that `number` is unused. */
  readonly cases?: readonly MessagePart[];
  /** Whether each element of an array is written as a field of its own. */
  readonly unpacked?: boolean;
}

/** A message with members. Each member is present, or has a rule for its absence. */
export interface MembersStructure<T = unknown> {
  readonly kind: "members";
  /** The full name of the protobuf message. */
  readonly type?: string;
  /** Set if the message represents a tuple, or a single value of another type. Undefined for an interface. */
  readonly standsFor?: "tuple" | "part";
  readonly parts: readonly MessagePart[];
  /** Returns the values of the members. @throws {CodecRefusal} */
  toRow(value: T): readonly unknown[];
  fromRow(values: readonly unknown[]): T;
}

/** A message of which exactly one member is present: a oneof or a union. */
export interface ChoiceStructure<T = unknown> {
  readonly kind: "choice";
  readonly type?: string;
  readonly standsFor: "union" | "oneof";
  /** The name of the oneof in protobuf, unless a case has the same name. */
  readonly oneof: string;
  readonly parts: readonly MessagePart[];
  /** Returns the index and the value of the case, or undefined if the schema does not have the case. @throws {CodecRefusal} */
  split(value: T): { readonly index: number; readonly value: unknown } | undefined;
  /** @param index of the case; undefined if the schema does not have the case */
  join(index: number | undefined, value: unknown): T;
}

export type Structure<T = unknown> = MembersStructure<T> | ChoiceStructure<T>;

/** @param codec of a message, or of a value that is written as a message with one member */
export function structureOf<T>(codec: Codec<T>): Structure<T> {
  return ownStructure(codec) ?? singlePartStructure(codec);
}

/** Returns whether a codec is a message that was not made by Viceroy, so that its structure is unknown. */
export function isForeignMessage(codec: Codec<unknown>): boolean {
  return protoFormOf(codec).kind === "message" && ownStructure(codec) === undefined;
}

function ownStructure<T>(codec: Codec<T>): Structure<T> | undefined {
  return (targetOf(codec) as { readonly structure?: Structure<T> }).structure;
}

/** Returns the codec of the values that are neither null nor absent. */
export function presentCodecOf(codec: Codec<unknown>): Codec<unknown> {
  const form = protoFormOf(codec);
  return form.kind === "maybe" ? form.inner : codec;
}

/** Returns the cases of a oneof. The oneof can be optional. */
export function choiceOf(codec: Codec<unknown>): ChoiceStructure {
  const structure = structureOf(presentCodecOf(codec));
  if (structure.kind !== "choice") throw new Error(`cannot take ${codec.name} apart: it is no oneof`);
  return structure;
}

/** Returns the structure of the message with one member that represents a value which protobuf cannot express as a field. */
function singlePartStructure<T>(codec: Codec<T>): MembersStructure<T> {
  const { kind } = protoFormOf(codec);
  if (kind === "message") throw new Error(`cannot tell what ${codec.name} consists of: its codec does not say`);
  const name = kind === "repeated" ? "items" : kind === "map" ? "entries" : "value";
  return {
    kind: "members",
    standsFor: "part",
    parts: [{ codec: codec as Codec<unknown>, segment: { text: "" }, number: 1, name, jsonName: name }],
    toRow: (value) => [value],
    fromRow: ([value]) => value as T,
  };
}

/** Returns the members of an entry whose map protobuf does not support. */
export function entryParts(key: Codec<unknown>, value: Codec<unknown>): readonly MessagePart[] {
  return [
    { codec: key, segment: { text: ".keys()" }, number: 1, name: "key", jsonName: "key" },
    { codec: value, segment: { text: ".values()" }, number: 2, name: "value", jsonName: "value" },
  ];
}

/** A member whose name in protobuf has not been chosen. */
export interface PartToName extends Pick<MessagePart, "codec" | "segment" | "number" | "json" | "cases" | "unpacked"> {
  /** The name in the schema. */
  readonly member: string;
  /** The name in protobuf that the `@name` tag sets. */
  readonly name?: string;
}

/**
 * Returns the parts with their names in protobuf. Names that would be equal are made different.
 * @param areCases whether the parts are cases of a choice; a case that is a map is wrapped in a message
 */
export function nameParts(parts: readonly PartToName[], areCases = false): readonly MessagePart[] {
  const fields = parts
    .flatMap((part) => part.cases?.map(caseToName) ?? [toName(part, areCases)])
    .sort((a, b) => a.part.number - b.part.number);
  const names = memberNames(fields.map(({ part, member, isMap }) => ({ ...part, member, isMap })));
  const named = new Map(
    fields.map(({ part }, i): [PartToName | MessagePart, MessagePart] => [part, { ...part, ...names[i]! }]),
  );
  return parts.map((part): MessagePart => {
    const { codec, segment, number, cases, member, name = protoName(member) } = part;
    if (cases === undefined) return named.get(part) as MessagePart;
    return { codec, segment, number, name, jsonName: "", cases: cases.map((one) => named.get(one) as MessagePart) };
  });
}

interface NamedOnce {
  readonly part: PartToName | MessagePart;
  readonly member: string;
  /** Whether the part is a map field of protobuf. */
  readonly isMap: boolean;
}

function toName(part: PartToName, isCase: boolean): NamedOnce {
  const form = protoFormOf(part.codec);
  return { part, member: part.member, isMap: !isCase && form.kind === "map" && form.isNativeMap };
}

function caseToName(part: MessagePart): NamedOnce {
  return { part, member: part.name, isMap: false };
}

/** The name and the values of an enum in protobuf. */
export interface EnumStructure {
  readonly name: string;
  /** The full name of the protobuf enum. */
  readonly type?: string;
  /** The values; the one with number 0 comes first. If several names have one number, the first name is written. */
  readonly values: readonly { readonly name: string; readonly number: number }[];
}

export function enumStructureOf(codec: Codec<unknown>): EnumStructure {
  const { enumeration } = targetOf(codec) as { readonly enumeration?: EnumStructure };
  if (enumeration === undefined) throw new Error(`cannot list the values of ${codec.name}: it is no enum`);
  return enumeration;
}

/** Returns the codec that a lazy codec refers to, or the codec itself. */
export function targetOf<T>(codec: Codec<T>): Codec<T> {
  const { target } = codec as { readonly target?: Codec<T> };
  return target === undefined ? codec : targetOf(target);
}

/** Returns the protobuf name of a codec whose name does not depend on the schema: of a handle or a well-known type. */
export function fixedProtoName(
  codec: Codec<unknown>,
): { readonly name: string; readonly handle?: boolean } | undefined {
  const { protoName, handle } = targetOf(codec) as { readonly protoName?: string; readonly handle?: string };
  if (protoName !== undefined) return { name: protoName };
  return handle === undefined ? undefined : { name: `${handlePackage}.${handle}`, handle: true };
}
