/** Reads object types as messages: members, inherited and intersected fields, index signatures, and `Oneof`. */
import type { Field, Shape, Type } from "../../model/index.js";
import type { SourceMember, SourceReference, SourceType } from "../type-source.js";
import type { FileScope } from "./context.js";
import { readMemberTags } from "./tags.js";
import { isString, readType, type TypeContext, unsupported } from "./types.js";
import { isKeyword } from "./unions.js";

/** The parts of the reader that messages need, in addition to those for types. */
export interface MessageContext extends TypeContext {
  /** Returns the fields of a type if the type is a message, otherwise undefined. */
  fieldsOf(type: Type): readonly Field[] | undefined;
}

/**
 * Reads an object type, `{ … }`, or the body of an interface. An object type whose only member is an index signature is
 * a record.
 */
export function readObject(
  members: readonly SourceMember[],
  scope: FileScope,
  owner: string,
  context: TypeContext,
): Shape {
  const index = members.find(({ kind }) => kind === "index");
  if (index === undefined) return { kind: "message", fields: readFields(members, scope, owner, context) };
  return { kind: "alias", type: readIndex(index, members, scope, owner, context) };
}

function readIndex(
  index: SourceMember,
  members: readonly SourceMember[],
  scope: FileScope,
  owner: string,
  context: TypeContext,
): Type {
  const key = index.params[0]?.type;
  const value = index.type;
  const span = { ...index, kind: "keyword", name: "unknown" } as const;
  if (value === undefined) return { kind: "unsupported", reason: "", typeText: "", fixHint: "" };
  if (members.length > 1) {
    const hint = "Move the other values to a field of type `Record<string, T>`.";
    return unsupported(span, scope, "VC1112", { owner, why: "the type has other members", hint });
  }
  if (key === undefined || !isString(key, scope)) {
    const why = `its keys are ${key === undefined ? "unknown" : scope.text(key)}`;
    return unsupported(span, scope, "VC1112", {
      owner,
      why,
      hint: "Use `Map<K, V>`. The keys of objects are strings.",
    });
  }
  return { kind: "record", value: readType(value, scope, owner, context) };
}

export function readFields(
  members: readonly SourceMember[],
  scope: FileScope,
  owner: string,
  context: TypeContext,
): readonly Field[] {
  return members.flatMap((member) => {
    const field = readField(member, scope, owner, context);
    return field === undefined ? [] : [field];
  });
}

function readField(member: SourceMember, scope: FileScope, owner: string, context: TypeContext): Field | undefined {
  const { kind, name, type } = member;
  if (kind === "call") {
    scope.report(member, "VC1113", { owner, why: "it is a call signature" });
    return undefined;
  }
  if (name === undefined) {
    scope.report(member, "VC1113", { owner, why: "its name is computed" });
    return undefined;
  }
  if (kind === "method") {
    scope.report(member, "VC1111", { owner, name });
    return undefined;
  }
  if (kind === "accessor") {
    scope.report(member, "VC1113", { owner, why: `${name} is an accessor` });
    return undefined;
  }
  // The compiler has reported that the member has no type.
  if (type === undefined) return undefined;
  const { doc, tags, wireName } = readMemberTags(member, "field", scope);
  const present = withoutUndefined(type);
  const field: Field = {
    name,
    id: 0,
    type: readType(present ?? type, scope, `${owner}.${name}`, context),
    optional: member.optional || present !== undefined,
    readonly: member.readonly,
    doc,
    tags,
    at: scope.at(member),
  };
  return wireName === undefined ? field : { ...field, wireName };
}

/** Returns `T` for `T | undefined`, or undefined for a type that is not a union with `undefined`. */
export function withoutUndefined(type: SourceType): SourceType | undefined {
  if (type.kind !== "union" || !type.types.some((part) => isKeyword(part, "undefined"))) return undefined;
  const types = type.types.filter((part) => !isKeyword(part, "undefined"));
  const [only] = types;
  if (only === undefined) return undefined;
  return types.length === 1 ? only : { ...type, types };
}

/** Reads `A & B` as one message with the fields of both. */
export function readIntersection(
  type: SourceType & { readonly kind: "intersection" },
  scope: FileScope,
  owner: string,
  context: MessageContext,
): Type {
  const parts = type.types.map((part) => readType(part, scope, owner, context));
  const broken = parts.find((part) => part.kind === "unsupported");
  if (broken !== undefined) return broken;
  const merged = new Map<string, Field>();
  for (const part of parts) {
    const fields = context.fieldsOf(part);
    if (fields === undefined) {
      const why = "not all its parts are object types";
      return unsupported(type, scope, "VC1114", { type: scope.text(type), why });
    }
    for (const field of fields) {
      const known = merged.get(field.name);
      if (known !== undefined && JSON.stringify(known.type) !== JSON.stringify(field.type)) {
        const why = `its parts declare ${field.name} differently`;
        return unsupported(type, scope, "VC1114", { type: scope.text(type), why });
      }
      if (known === undefined || known.optional) merged.set(field.name, field);
    }
  }
  return { kind: "inline", shape: { kind: "message", fields: [...merged.values()] } };
}

/**
 * Returns the fields of an interface: first those of the interfaces that it extends, in their order, then its own. A
 * field that the interface declares again replaces the inherited one.
 */
export function readInherited(
  heritage: readonly SourceType[],
  own: readonly Field[],
  scope: FileScope,
  name: string,
  context: MessageContext,
): readonly Field[] {
  const merged = new Map<string, Field>();
  for (const base of heritage) {
    const type = readType(base, scope, name, context);
    if (type.kind === "unsupported") continue;
    const fields = context.fieldsOf(type);
    if (fields === undefined) scope.report(base, "VC1217", { name, base: scope.text(base) });
    for (const field of fields ?? []) if (!merged.has(field.name)) merged.set(field.name, field);
  }
  for (const field of own) merged.set(field.name, field);
  return [...merged.values()];
}

/** Reads `Oneof<{ a: Uint32; b: string }>`. */
export function readOneof(type: SourceReference, scope: FileScope, owner: string, context: MessageContext): Type {
  const [argument] = type.args;
  const refuse = (why: string) => unsupported(type, scope, "VC1116", { type: scope.text(type), why });
  if (argument === undefined) return { kind: "unsupported", reason: "", typeText: scope.text(type), fixHint: "" };
  const read = readType(argument, scope, owner, context);
  if (read.kind === "unsupported") return read;
  const cases = context.fieldsOf(read);
  if (cases === undefined) return refuse("its argument is not an object type");
  if (cases.length === 0) return refuse("it has no cases");
  const optional = cases.find((field) => field.optional);
  if (optional !== undefined) return refuse(`case ${optional.name} is optional`);
  return { kind: "inline", shape: { kind: "oneof", cases } };
}
