/**
 * Checks a schema for what the protobuf layout cannot express: numbers and names that two members of a message would
 * share. The check does not depend on the emitted artefacts, since every type has a protobuf layout.
 */
import { enumValueName, jsonName, protoName } from "../../shared/protobuf/names.js";
import { type Diagnostic, diagnostic } from "../diagnostics/index.js";
import { flattenedCases } from "../model/flattened-oneof.js";
import { indexSchema, partsOf, partsOfShape, type SchemaIndex, typesOfActors, typesOfTasks } from "../model/resolve.js";
import type { ActorDeclaration, Schema, TaskDeclaration, TypeDeclaration } from "../model/schema.js";
import type { Field, Position, Shape, Type } from "../model/type.js";
import { hasNumbers, valueForm } from "./form/form.js";

type Declaration = TypeDeclaration | ActorDeclaration | TaskDeclaration;

/** Caches the diagnostics of declarations. They never change, and watch mode asks for them after every edit. */
const known = new WeakMap<Declaration, readonly Diagnostic[]>();

/** Returns the diagnostics of a schema that has ids. */
export function checkProtobuf(schema: Schema): readonly Diagnostic[] {
  const declarations = schema.modules.flatMap(({ types, actors, tasks }) => [...types, ...actors, ...tasks]);
  return [...declarations.flatMap(checkDeclaration), ...checkUnpacked(schema), ...checkReserved(schema)];
}

function checkDeclaration(declaration: Declaration): readonly Diagnostic[] {
  const before = known.get(declaration);
  if (before !== undefined) return before;
  const { name } = declaration;
  const found =
    "shape" in declaration
      ? checkShape(declaration.shape, name)
      : typesOfFunction(declaration).flatMap((type) => checkType(type, name));
  known.set(declaration, found);
  return found;
}

function typesOfFunction(declaration: ActorDeclaration | TaskDeclaration): readonly Type[] {
  return "endpoints" in declaration ? typesOfActors([declaration]) : typesOfTasks([declaration]);
}

/** Checks the inline shapes in a type, at any depth. */
function checkType(type: Type, owner: string): readonly Diagnostic[] {
  if (type.kind === "inline") return checkShape(type.shape, owner);
  return partsOf(type).flatMap((part) => checkType(part, owner));
}

function checkShape(shape: Shape, owner: string): readonly Diagnostic[] {
  const inside = partsOfShape(shape).flatMap((part) => checkType(part, owner));
  switch (shape.kind) {
    case "message":
      return [...checkOneofs(shape.fields, owner), ...checkNames(fieldNames(shape.fields), owner), ...inside];
    case "oneof":
      return [...checkNames(shape.cases.map(nameOfField), owner), ...inside];
    case "enum":
      return checkEnum(shape, owner);
    default:
      return inside;
  }
}

/** Checks oneofs that are part of the message, and those that seem intended to be but have a case without `@id`. */
function checkOneofs(fields: readonly Field[], owner: string): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  const holders = new Map<number, string>();
  for (const { name, id, type, optional } of fields) {
    if (flattenedCases(type, optional) === undefined) holders.set(id, name);
  }
  for (const { name, type, optional, at } of fields) {
    const member = `${owner}.${name}`;
    const inner = type.kind === "nullable" ? type.inner : type;
    const cases = inner.kind === "inline" && inner.shape.kind === "oneof" ? inner.shape.cases : [];
    const tagged = cases.filter(({ tags }) => tags.id !== undefined);
    if (flattenedCases(type, optional) !== undefined) {
      for (const item of cases) {
        const holder = holders.get(item.id);
        const what = { case: item.name, member, id: item.id, holder: `${owner}.${holder}` };
        if (holder !== undefined) found.push(diagnostic("VC1131", item.at, what));
        holders.set(item.id, `${name}.${item.name}`);
      }
    } else if (tagged.length > 0 && tagged.length < cases.length) {
      const others = cases.filter((item) => !tagged.includes(item)).map((item) => item.name);
      found.push(diagnostic("VC1130", at, { member, owner, cases: others.join(", ") }));
    }
  }
  return found;
}

interface ProtoMemberName {
  /** The name in the schema. */
  readonly member: string;
  readonly name: string;
  /** The name in JSON. Absent for a value of an enum, whose JSON name is `name`. */
  readonly json?: string;
  readonly at: Position;
}

function nameOfField({ name, wireName, tags, at }: Field): ProtoMemberName {
  const spelt = wireName ?? protoName(name);
  return { member: name, name: spelt, json: tags.json ?? jsonName(spelt), at };
}

function fieldNames(fields: readonly Field[]): readonly ProtoMemberName[] {
  return fields.flatMap((field) => {
    const cases = flattenedCases(field.type, field.optional);
    return cases === undefined ? [nameOfField(field)] : [nameOfField(field), ...cases.map(nameOfField)];
  });
}

function checkNames(names: readonly ProtoMemberName[], owner: string): readonly Diagnostic[] {
  const holders = new Map<string, string>();
  return names.flatMap(({ member, name, json = name, at }) => {
    // Readers of JSON accept both names of a member.
    const taken = [name, json].find((one) => holders.has(one));
    if (taken === undefined) {
      for (const one of [name, json]) holders.set(one, member);
      return [];
    }
    return [diagnostic("VC1134", at, { member: `${owner}.${member}`, holder: holders.get(taken) ?? "", name: taken })];
  });
}

function checkEnum(shape: Extract<Shape, { kind: "enum" }>, owner: string): readonly Diagnostic[] {
  const isNumbers = hasNumbers(shape);
  const names: ProtoMemberName[] = [];
  const found: Diagnostic[] = [];
  for (const { value, ...first } of shape.values) {
    const member = `${owner}.${first.name}`;
    if (isNumbers && Number(value) !== (Number(value) | 0)) {
      found.push(diagnostic("VC1133", first.at, { member, value }));
    }
    for (const { name, wireName, tags, at } of [first, ...(first.aliases ?? [])]) {
      names.push({ member: name, name: wireName ?? enumValueName(owner, name), at });
      const asked = tags?.id;
      if (asked === undefined) continue;
      const what = { id: asked, member: `${owner}.${name}` };
      if (isNumbers && asked !== value) {
        found.push(diagnostic("VC1132", at, { ...what, why: `its number is its value, ${value}` }));
      } else if (!isNumbers && name !== first.name) {
        found.push(diagnostic("VC1132", at, { ...what, why: `it is another name of ${first.name}` }));
      }
    }
  }
  // Equal names of literals get their numbers appended, because users cannot rename literals.
  return shape.origin === "literals" ? found : [...found, ...checkNames(names, owner)];
}

/** Reports `@unpacked` on fields that protobuf does not pack. */
function checkUnpacked(schema: Schema): readonly Diagnostic[] {
  const index = indexSchema(schema);
  const inShape = (shape: Shape, owner: string): readonly Diagnostic[] => {
    const inside = partsOfShape(shape).flatMap((part) => inType(part, owner));
    if (shape.kind !== "message" && shape.kind !== "oneof") return inside;
    const fields = shape.kind === "message" ? shape.fields : shape.cases;
    const found = fields
      .filter(({ tags }) => tags.unpacked)
      .flatMap((field): readonly Diagnostic[] => {
        const why = shape.kind === "oneof" ? "it is a case of a Oneof" : whyNotPacked(field, index);
        return why === undefined ? [] : [diagnostic("VC1135", field.at, { member: `${owner}.${field.name}`, why })];
      });
    return [...found, ...inside];
  };
  const inType = (type: Type, owner: string): readonly Diagnostic[] =>
    type.kind === "inline" ? inShape(type.shape, owner) : partsOf(type).flatMap((part) => inType(part, owner));
  return schema.modules.flatMap(({ types, actors, tasks }) => [
    ...types.flatMap(({ shape, name }) => inShape(shape, name)),
    ...[...actors, ...tasks].flatMap((declaration) =>
      typesOfFunction(declaration).flatMap((type) => inType(type, declaration.name)),
    ),
  ]);
}

function whyNotPacked({ type, optional }: Field, index: SchemaIndex): string | undefined {
  if (optional || type.kind === "nullable") return "it can be absent, and is a message of its own then";
  if (type.kind !== "array") return "it is not an array";
  // Each use of a type parameter can stand for another type.
  if (type.element.kind === "parameter") return "the type of its elements is a type parameter";
  const element = valueForm(type.element, index);
  if (element.kind === "message") return "its elements are messages";
  const isText = element.kind === "scalar" && (element.scalar === "string" || element.scalar === "bytes");
  return isText ? "protobuf does not pack strings and bytes" : undefined;
}

/** Reports members that use a number or name that their declaration reserves. */
function checkReserved(schema: Schema): readonly Diagnostic[] {
  return schema.modules.flatMap(({ types }) =>
    types.flatMap(({ name: owner, shape, reserved }) => {
      if (reserved === undefined) return [];
      return reservable(shape, owner).flatMap(({ member, name, number, at }) => {
        const what = reserved.numbers.includes(number)
          ? `the number ${number}`
          : reserved.names.includes(name)
            ? `the name ${name}`
            : undefined;
        return what === undefined ? [] : [diagnostic("VC1136", at, { member: `${owner}.${member}`, what, owner })];
      });
    }),
  );
}

function reservable(shape: Shape, owner: string): readonly (ProtoMemberName & { readonly number: number })[] {
  switch (shape.kind) {
    case "message":
      return shape.fields
        .flatMap((field) => flattenedCases(field.type, field.optional) ?? [field])
        .map((field) => ({ ...nameOfField(field), number: field.id }));
    case "oneof":
      return shape.cases.map((field) => ({ ...nameOfField(field), number: field.id }));
    case "union":
      return shape.variants.map(({ tag, id, at }) => ({ member: tag, name: protoName(tag), number: id, at }));
    case "enum":
      return shape.values.map(({ name, wireName, id, at }) => {
        return { member: name, name: wireName ?? enumValueName(owner, name), number: id, at };
      });
    case "alias":
      return [];
  }
}
