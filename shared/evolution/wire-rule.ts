/**
 * What a rule of the wire is: it compares a part of an older schema with the same part of a newer one, and says what harm
 * comes of the difference. A rule speaks up exactly when some value that one side writes is refused by the other, or read as
 * something else; both directions count, since in a rolling upgrade both sides write.
 */
import type {
  ProtoEnum,
  ProtoField,
  ProtoMessage,
  ProtoSchema,
  ProtoService,
  ProtoType,
} from "../protobuf/proto-schema.js";

/** A part of the older schema and the same part of the newer one. */
export interface Pair<T> {
  readonly older: T;
  readonly newer: T;
}

/** What is wrong with one part. */
export interface WireFinding {
  /** Full name; of a member its name follows a dot. */
  readonly place: string;
  readonly text: string;
}

/**
 * Names that members of messages and values of enums have or had in the schema, by their full names. It tells a rename from
 * another member with the same number. A member that is not listed has no such names: an argument, an element of a tuple.
 */
export type MemberNames = ReadonlyMap<string, readonly string[]>;

/** The two schemas as a whole. */
export interface RuleContext {
  readonly schemas: Pair<ProtoSchema>;
  /** Absent: nobody knows them, as between two processes that meet. */
  readonly names: Pair<MemberNames> | undefined;
  /** Whether the types that are compared are different ones, which exist beside each other, and none was renamed. */
  readonly areDistinctTypes: boolean;
  /** What keeps one side from reading messages or enums of the other, as one line; undefined: nothing. */
  incompatibility(types: Pair<ProtoType>): string | undefined;
}

interface RuleIdentity {
  /** As `viceroy break` and its documentation have it: `VC5001`. */
  readonly code: string;
  /** In words: `field-type-changed`. */
  readonly name: string;
  /** What to do about it. */
  readonly fix?: string;
}

/** Compares two fields with the same number. Of the rules of a field the first that finds something is reported. */
export interface FieldRule extends RuleIdentity {
  readonly compares: "field";
  find(fields: Pair<ProtoField>, around: RuleContext): string | undefined;
}

export interface MessageRule extends RuleIdentity {
  readonly compares: "message";
  /** Whether it goes by the names of members. Arguments of calls are known by their places, whatever they are called. */
  readonly byName?: boolean;
  find(messages: Pair<ProtoMessage>, around: RuleContext): readonly WireFinding[];
}

export interface EnumRule extends RuleIdentity {
  readonly compares: "enum";
  find(enums: Pair<ProtoEnum>, around: RuleContext): readonly WireFinding[];
}

/** Compares two services with the same id. */
export interface ServiceRule extends RuleIdentity {
  readonly compares: "service";
  find(services: Pair<ProtoService>): readonly WireFinding[];
}

/** Compares a service with what the newer schema has in its place. */
export interface ActorRule extends RuleIdentity {
  readonly compares: "actor";
  find(service: ProtoService, newer: ProtoSchema): readonly WireFinding[];
}

export type WireRule = FieldRule | MessageRule | EnumRule | ServiceRule | ActorRule;
