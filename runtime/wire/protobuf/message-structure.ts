/**
 * What a message of the protobuf layout consists of, for those who go by its parts: the JSON mapping, and descriptions of
 * what is on the wire. Codecs that are messages say so in `structure`; for all others one member stands alone.
 */
import { handlePackage, memberNames, protoName } from "../../../shared/protobuf/names.js";
import type { Codec } from "../codec.js";
import type { PathSegment } from "../codec-refusal.js";
import { protoFormOf } from "./proto-form.js";

/** A member of a message, or a case of a choice. */
export interface MessagePart {
  readonly codec: Codec<unknown>;
  /** In paths of errors. */
  readonly segment: PathSegment;
  readonly number: number;
  /** In protobuf. */
  readonly name: string;
  readonly jsonName: string;
  /** The value of `@json`. */
  readonly json?: string;
  /** Of a oneof whose cases are fields of this message: it is no field itself, and `number` has no meaning. */
  readonly cases?: readonly MessagePart[];
  /** An array of which each element has a field of its own. */
  readonly unpacked?: boolean;
}

/** A message whose members are all there, or have rules for being absent. */
export interface MembersStructure<T = unknown> {
  readonly kind: "members";
  /** The full name of the protobuf message. */
  readonly type?: string;
  /** Absent: an interface. */
  readonly standsFor?: "tuple" | "part";
  readonly parts: readonly MessagePart[];
  /** The values of the members. @throws Refused */
  toRow(value: T): readonly unknown[];
  fromRow(values: readonly unknown[]): T;
}

/** A message of which one member is there. */
export interface ChoiceStructure<T = unknown> {
  readonly kind: "choice";
  readonly type?: string;
  readonly standsFor: "union" | "oneof";
  /** What the oneof is called in protobuf, if no case is called so. */
  readonly oneof: string;
  readonly parts: readonly MessagePart[];
  /** Which case, and its value; undefined: one that this schema does not know. @throws Refused */
  split(value: T): { readonly index: number; readonly value: unknown } | undefined;
  /** @param index undefined: a case that this schema does not know */
  join(index: number | undefined, value: unknown): T;
}

export type Structure<T = unknown> = MembersStructure<T> | ChoiceStructure<T>;

/** @param codec of a message, or of what a message stands for */
export function structureOf<T>(codec: Codec<T>): Structure<T> {
  return ownStructure(codec) ?? singlePartStructure(codec);
}

/** Whether a codec is a message, but not one of ours: nobody knows what it consists of. */
export function isForeignMessage(codec: Codec<unknown>): boolean {
  return protoFormOf(codec).kind === "message" && ownStructure(codec) === undefined;
}

function ownStructure<T>(codec: Codec<T>): Structure<T> | undefined {
  return (targetOf(codec) as { readonly structure?: Structure<T> }).structure;
}

/** What is not null of a codec, or not absent. */
export function presentCodecOf(codec: Codec<unknown>): Codec<unknown> {
  const position = protoFormOf(codec);
  return position.kind === "maybe" ? position.inner : codec;
}

/** The cases of a oneof, which may be missing. */
export function choiceOf(codec: Codec<unknown>): ChoiceStructure {
  const structure = structureOf(presentCodecOf(codec));
  if (structure.kind !== "choice") throw new Error(`cannot take ${codec.name} apart: it is no oneof`);
  return structure;
}

/** The message that stands for what protobuf cannot say in its place. */
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

/** An entry of a map that protobuf does not have. */
export function entryParts(key: Codec<unknown>, value: Codec<unknown>): readonly MessagePart[] {
  return [
    { codec: key, segment: { text: ".keys()" }, number: 1, name: "key", jsonName: "key" },
    { codec: value, segment: { text: ".values()" }, number: 2, name: "value", jsonName: "value" },
  ];
}

/** What is known of a member before it is named. */
export interface PartToName extends Pick<MessagePart, "codec" | "segment" | "number" | "json" | "cases" | "unpacked"> {
  /** In the schema. */
  readonly member: string;
  /** In protobuf, where `@name` says so. */
  readonly name?: string;
}

/**
 * The parts with their names, which depend on each other where they would be the same.
 * @param areCases of a choice: one that is a map has a message for it
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
  /** A map field of protobuf. */
  readonly isMap: boolean;
}

function toName(part: PartToName, isCase: boolean): NamedOnce {
  const position = protoFormOf(part.codec);
  return { part, member: part.member, isMap: !isCase && position.kind === "map" && position.isNativeMap };
}

function caseToName(part: MessagePart): NamedOnce {
  return { part, member: part.name, isMap: false };
}

/** What an enum is called in protobuf, and its values. */
export interface EnumStructure {
  readonly name: string;
  /** The full name of the protobuf enum. */
  readonly type?: string;
  /** The one with number 0 comes first. Of several names for one number the first is written. */
  readonly values: readonly { readonly name: string; readonly number: number }[];
}

export function enumStructureOf(codec: Codec<unknown>): EnumStructure {
  const { enumeration } = targetOf(codec) as { readonly enumeration?: EnumStructure };
  if (enumeration === undefined) throw new Error(`cannot list the values of ${codec.name}: it is no enum`);
  return enumeration;
}

/** A codec that is another one under its name. */
export function targetOf<T>(codec: Codec<T>): Codec<T> {
  const { target } = codec as { readonly target?: Codec<T> };
  return target === undefined ? codec : targetOf(target);
}

/** What a codec is called that has a name for everybody. */
export function fixedProtoName(
  codec: Codec<unknown>,
): { readonly name: string; readonly handle?: boolean } | undefined {
  const { protoName, handle } = targetOf(codec) as { readonly protoName?: string; readonly handle?: string };
  if (protoName !== undefined) return { name: protoName };
  return handle === undefined ? undefined : { name: `${handlePackage}.${handle}`, handle: true };
}
