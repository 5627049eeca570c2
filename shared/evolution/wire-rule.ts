/**
 * The interface of a wire rule. A rule compares one part of an older schema with the same part of a newer one and
 * describes the harm of the difference. A rule reports a finding exactly when one side refuses or misreads some value
 * that the other side writes. Both directions count, because both sides write during a rolling upgrade.
 */
import type {
  ProtoEnum,
  ProtoField,
  ProtoMessage,
  ProtoSchema,
  ProtoService,
  ProtoType,
} from "../protobuf/proto-schema.js";
import type { Pair } from "./pair.js";

/** A problem with one part. */
export interface WireFinding {
  /** The full name of the part; the name of a member follows its type's name and a dot. */
  readonly place: string;
  readonly text: string;
}

/**
 * The present and former schema names of members of messages and of enum values, by their full names. They distinguish
 * a rename from another member with the same number. Arguments and elements of tuples have no such names and are not
 * listed.
 */
export type MemberNames = ReadonlyMap<string, readonly string[]>;

/** Both schemas as a whole. */
export interface RuleContext {
  readonly schemas: Pair<ProtoSchema>;
  /** Schema names of members. Undefined if they are not known, as between two connected processes. */
  readonly names: Pair<MemberNames> | undefined;
  /** Whether the compared types exist side by side, so that neither is the renamed other one. */
  readonly areDistinctTypes: boolean;
  /** Describes in one line why one side cannot read messages or enums of the other, or returns undefined if it can. */
  incompatibility(types: Pair<ProtoType>): string | undefined;
}

interface RuleIdentity {
  /** The code in `viceroy break` and its documentation: `VC5001`. */
  readonly code: string;
  /** The name of the rule: `field-type-changed`. */
  readonly name: string;
  /** What users can do about a finding. */
  readonly fix?: string;
}

/** Compares two fields with the same number. Only the first field rule with a finding is reported for each field. */
export interface FieldRule extends RuleIdentity {
  readonly compares: "field";
  find(fields: Pair<ProtoField>, around: RuleContext): string | undefined;
}

export interface MessageRule extends RuleIdentity {
  readonly compares: "message";
  /**
   * Whether the rule compares names of members. It is skipped for arguments of calls, which are identified by their
   * positions.
   */
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

/** Compares a service with the newer schema. */
export interface ActorRule extends RuleIdentity {
  readonly compares: "actor";
  find(service: ProtoService, newer: ProtoSchema): readonly WireFinding[];
}

export type WireRule = FieldRule | MessageRule | EnumRule | ServiceRule | ActorRule;
