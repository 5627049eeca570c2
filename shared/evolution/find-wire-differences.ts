/**
 * Finds the incompatibilities of two schemas on the wire, in the protobuf layout. The comparison walks both schemas
 * from the same roots, follows numbers and ids instead of names, and applies the wire rules to each pair of parts. If
 * it finds nothing, each side can read what the other writes, and each side keeps what it does not know. It is a pure
 * function. The runtime calls it when two processes have different schemas.
 */

import { isHandle } from "../protobuf/names.js";
import type { ProtoField, ProtoMessage, ProtoSchema, ProtoType } from "../protobuf/proto-schema.js";
import type { Pair } from "./pair.js";
import { wireRules } from "./rules/index.js";
import type { WireDifference } from "./wire-difference.js";
import { allRoots, type WireRoots } from "./wire-roots.js";
import type { MemberNames, RuleContext, WireFinding, WireRule } from "./wire-rule.js";

/**
 * Finds the incompatibilities of two schemas on the wire.
 * @param older the schema that callers may still have: parts that only the older schema has are differences, parts that
 * only the newer one has are not. If neither schema is known to be the older one, see `oneWayRules`
 * @param roots where the comparison begins; default: everything
 * @param names present and former names of members, if they are known
 * @returns the differences in the order in which the walk finds them, each one once
 */
export function findWireDifferences(
  older: ProtoSchema,
  newer: ProtoSchema,
  roots: WireRoots = allRoots(older, newer),
  names?: Pair<MemberNames>,
): readonly WireDifference[] {
  const comparison = new WireComparison({ older, newer }, "named", names);
  comparison.visitActors(roots.actors);
  for (const { older: from, newer: to } of roots.messages) comparison.visit(message(from), message(to));
  for (const { older: from, newer: to } of roots.enums ?? []) comparison.visit(enumeration(from), enumeration(to));
  return comparison.differences();
}

function enumeration(name: string): ProtoType {
  return { kind: "enum", name };
}

function message(name: string): ProtoType {
  return { kind: "message", name };
}

/** Two messages that are compared with each other. */
interface MessagePair extends Pair<ProtoMessage> {
  /** Whether the messages are the arguments of an endpoint. */
  readonly areArguments: boolean;
}

class WireComparison implements RuleContext {
  readonly schemas: Pair<ProtoSchema>;
  readonly names: Pair<MemberNames> | undefined;
  /**
   * How types with different names are compared if both schemas have both names. `named`: as a changed type, at the
   * field that uses them. `structure`: member by member, like all others.
   */
  readonly #mode: "named" | "structure";
  readonly #found: WireDifference[] = [];
  readonly #seen = new Set<string>();
  readonly #queue: MessagePair[] = [];

  constructor(schemas: Pair<ProtoSchema>, mode: "named" | "structure", names: Pair<MemberNames> | undefined) {
    this.schemas = schemas;
    this.names = names;
    this.#mode = mode;
  }

  get areDistinctTypes(): boolean {
    return this.#mode === "structure";
  }

  differences(): readonly WireDifference[] {
    // The list grows during the walk. A queue avoids recursion, because schemas may be deep.
    for (const pair of this.#queue) this.#compareMessages(pair);
    return this.#found;
  }

  visitActors(ids: readonly number[]): void {
    const { older, newer } = this.schemas;
    const wanted = new Set(ids);
    const after = new Map([...newer.services.values()].map((service) => [service.id, service]));
    for (const before of older.services.values()) {
      if (!wanted.has(before.id)) continue;
      for (const rule of wireRules) if (rule.compares === "actor") this.#report(rule, rule.find(before, newer));
      const now = after.get(before.id);
      if (now === undefined) continue;
      for (const rule of wireRules) {
        if (rule.compares === "service") this.#report(rule, rule.find({ older: before, newer: now }));
      }
      for (const method of before.methods) {
        const same = now.methods.find(({ id }) => id === method.id);
        if (same === undefined || same.stream !== method.stream) continue;
        this.#enqueueMessages(method.request, same.request, true);
        this.#enqueueMessages(method.response, same.response);
      }
    }
  }

  /** Compares two types. Scalars, and types of different kinds, have already been compared by the field rules. */
  visit(older: ProtoType, newer: ProtoType): void {
    if (older.kind === "message" && newer.kind === "message") this.#enqueueMessages(older.name, newer.name);
    if (older.kind === "enum" && newer.kind === "enum") this.#compareEnums(older.name, newer.name);
  }

  incompatibility({ older, newer }: Pair<ProtoType>): string | undefined {
    if (older.kind === "scalar" || newer.kind === "scalar") return undefined;
    const isOurs = isHandle(older.name) || isHandle(newer.name);
    const declared = this.#isDeclared("older", older) && this.#isDeclared("newer", newer);
    if (isOurs || !declared) return older.name === newer.name ? undefined : "these are different messages";
    if (this.#mode === "structure" || this.#isSameName(older, newer)) return undefined;
    const inside = new WireComparison(this.schemas, "structure", this.names);
    inside.visit(older, newer);
    const [first] = inside.differences();
    return first && `${first.place}: ${first.text}`;
  }

  #isDeclared(side: "older" | "newer", type: Exclude<ProtoType, { kind: "scalar" }>): boolean {
    const { messages, enums } = this.schemas[side];
    return (type.kind === "message" ? messages : enums).has(type.name);
  }

  /**
   * Returns whether two types have the same name, or whether one was renamed to the other: the old name is gone and the
   * new name did not exist before. A renamed type is compared on its own.
   */
  #isSameName(older: Exclude<ProtoType, { kind: "scalar" }>, newer: Exclude<ProtoType, { kind: "scalar" }>): boolean {
    return older.name === newer.name || (!this.#isDeclared("newer", older) && !this.#isDeclared("older", newer));
  }

  #enqueueMessages(olderName: string, newerName: string, areArguments = false): void {
    const older = this.schemas.older.messages.get(olderName);
    const newer = this.schemas.newer.messages.get(newerName);
    const key = `message ${olderName} ${newerName}`;
    if (older === undefined || newer === undefined || this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#queue.push({ older, newer, areArguments });
  }

  #compareMessages(messages: MessagePair): void {
    const { older, newer, areArguments } = messages;
    const before = new Map(older.fields.map((field) => [field.number, field]));
    const judged = new Set<string>();
    for (const field of newer.fields) {
      const was = before.get(field.number);
      if (was === undefined) continue;
      const place = `${newer.name}.${field.name}`;
      if (this.#applyFieldRules({ older: was, newer: field }, place)) judged.add(place);
      else this.#visitField(was, field);
    }
    for (const rule of wireRules) {
      if (rule.compares !== "message" || (rule.byName && areArguments)) continue;
      const found = rule.find(messages, this).filter(({ place }) => !judged.has(place));
      this.#report(rule, found);
      for (const { place } of found) judged.add(place);
    }
  }

  /** Returns whether a rule found a difference. */
  #applyFieldRules(fields: Pair<ProtoField>, place: string): boolean {
    for (const rule of wireRules) {
      if (rule.compares !== "field") continue;
      const text = rule.find(fields, this);
      if (text === undefined) continue;
      this.#report(rule, [{ place, text }]);
      return true;
    }
    return false;
  }

  #visitField(older: ProtoField, newer: ProtoField): void {
    this.#visitFieldType(older.type, newer.type);
    if (older.carries?.kind === "port" && newer.carries?.kind === "port") {
      this.#visitFieldType(older.carries.type, newer.carries.type);
    }
  }

  /**
   * Compares the types of two fields. The field rules have already compared types of different names, including their
   * members.
   */
  #visitFieldType(older: ProtoType, newer: ProtoType): void {
    if (older.kind === "scalar" || newer.kind === "scalar") return;
    if (this.#mode === "structure" || this.#isSameName(older, newer)) this.visit(older, newer);
  }

  #compareEnums(olderName: string, newerName: string): void {
    const older = this.schemas.older.enums.get(olderName);
    const newer = this.schemas.newer.enums.get(newerName);
    const key = `enum ${olderName} ${newerName}`;
    if (older === undefined || newer === undefined || this.#seen.has(key)) return;
    this.#seen.add(key);
    for (const rule of wireRules) if (rule.compares === "enum") this.#report(rule, rule.find({ older, newer }, this));
  }

  #report(rule: WireRule, findings: readonly WireFinding[]): void {
    for (const { place, text } of findings) this.#found.push({ code: rule.code, rule: rule.name, place, text });
  }
}
