/**
 * Determines how types are represented in the messages of the protobuf layout (docs/reference/protobuf-layout.md): as a
 * scalar, an enum, a message, a repeated field or a map; whether absence has a meaning; and which stand-in message is
 * used where protobuf cannot express a type. All emitters share these facts. This file prints nothing and names no
 * message; `compiler/protobuf/lower` names them.
 */

import { jsonName, memberNames, type NamedMember, protoName } from "../../../shared/protobuf/names.js";
import type { ProtoScalar } from "../../../shared/protobuf/proto-schema.js";
import { type CoreType, peel, shapeOf } from "../../model/core-type.js";
import { flattenedCases } from "../../model/flattened-oneof.js";
import type { SchemaIndex } from "../../model/resolve.js";
import type { Parameter } from "../../model/schema.js";
import type { Field, Shape, TupleElement, Type } from "../../model/type.js";
import type { WellKnownName } from "../../model/well-known.js";
import { canBeMapKey, protoScalarOf, protoScalarOfElement } from "./proto-scalar.js";

export type EnumShape = Extract<Shape, { kind: "enum" }>;
export type ChoiceShape = Extract<Shape, { kind: "union" | "oneof" }>;

/** The form of one value on the wire: of a field, an element of a repeated field, or a value of a map. */
export type ValueForm =
  | { readonly kind: "scalar"; readonly scalar: ProtoScalar; readonly type: CoreType }
  | { readonly kind: "enum"; readonly shape: EnumShape; readonly type: CoreType }
  | { readonly kind: "message"; readonly message: MessageForm };

/** The form of a message without its fields, because they may refer back to it. `fieldsOf` returns them. */
export type MessageForm =
  /** An interface, a union or a `Oneof`, named or inline. */
  | {
      readonly kind: "declared";
      readonly type: CoreType;
      readonly shape: ChoiceShape | Extract<Shape, { kind: "message" }>;
    }
  /** A `Date`: `google.protobuf.Timestamp`. */
  | { readonly kind: "timestamp" }
  /** Another message of `google.protobuf` for which the runtime has a codec. */
  | { readonly kind: "wellKnown"; readonly name: WellKnownName; readonly type: Extract<Type, { kind: "wellKnown" }> }
  | { readonly kind: "tuple"; readonly type: Extract<Type, { kind: "tuple" }> }
  /** A port, a mesh, a buffer or a tensor: `bytes state = 1`. */
  | { readonly kind: "handle"; readonly type: CoreType }
  /** An element of the repeated field for a map whose key type protobuf does not allow. Keeps no unknown fields. */
  | { readonly kind: "entry"; readonly type: Extract<Type, { kind: "map" }> }
  /** A stand-in for a type that protobuf cannot express in its place. Keeps no unknown fields. */
  | { readonly kind: "standIn"; readonly field: "items" | "entries" | "value"; readonly type: Type };

/** The form of a field. */
export type FieldForm =
  | ValueForm
  /** A list, or the entries of a map whose key type protobuf does not allow. */
  | {
      readonly kind: "repeated";
      readonly element: ValueForm;
      readonly type: Extract<Type, { kind: "array" | "set" | "typedArray" | "map" }>;
    }
  | {
      readonly kind: "map";
      readonly key: ProtoScalar;
      readonly value: ValueForm;
      readonly type: Extract<Type, { kind: "map" | "record" }>;
    }
  /** A `Oneof` whose cases are fields of the message that contains it. */
  | { readonly kind: "oneof"; readonly cases: readonly MessageField[]; readonly type: CoreType };

/**
 * The meaning of a field that is not on the wire.
 * - `implicit`: the default value, which is never written.
 * - `always`: the empty message; writers write it nevertheless.
 * - `demanded`: an error, since writers always write the field.
 * - `optional`: the property is absent.
 * - `nullable`: null.
 * - `case`: the oneof has another case.
 * - `empty`: a collection without elements.
 */
export type Presence = "implicit" | "always" | "demanded" | "optional" | "nullable" | "case" | "empty";

export interface MessageField {
  /** The name of the property, the tag of the variant or the label of the element. */
  readonly property: string;
  /** The name in the `.proto` file: in snake case, or from `@name`. */
  readonly name: string;
  readonly jsonName: string;
  /** The value of `@name`. */
  readonly wireName?: string;
  /** The value of `@json`. */
  readonly wireJson?: string;
  /** Whether `@unpacked` is set, so that each element of the list is written as a separate field. */
  readonly unpacked?: boolean;
  /** The field number. The number of a flattened oneof is that of its member, which is not on the wire. */
  readonly number: number;
  readonly presence: Presence;
  readonly form: FieldForm;
  /** The index of the element in its tuple. */
  readonly element?: number;
}

/**
 * Returns the form of a type where there must be exactly one value: an element, a value of a map, or a case of a oneof.
 */
export function valueForm(type: Type, index: SchemaIndex): ValueForm {
  const { core, nullable } = peel(type, index);
  return nullable ? message({ kind: "standIn", field: "value", type }) : coreForm(core, index);
}

/** Returns the form of a value that is not null. A reference to a nullable alias counts as its type without null. */
function coreForm(core: CoreType, index: SchemaIndex): ValueForm {
  const inside = throughAliases(core, index);
  // The codec of a nullable alias also writes null, so the alias is replaced by its target.
  const type = peel(core, index).nullable ? inside : core;
  switch (inside.kind) {
    case "scalar": {
      const scalar = protoScalarOf(inside.scalar);
      return scalar === undefined ? message({ kind: "timestamp" }) : { kind: "scalar", scalar, type: inside };
    }
    case "typedArray":
      if (inside.element === "uint8clamped") return { kind: "scalar", scalar: "bytes", type: inside };
      return message({ kind: "standIn", field: "items", type });
    case "array":
    case "set":
      return message({ kind: "standIn", field: "items", type });
    case "map":
    case "record":
      return message({ kind: "standIn", field: "entries", type });
    case "tuple":
      return message({ kind: "tuple", type: inside });
    case "ref":
    case "inline": {
      const shape = shapeOf(inside, index);
      if (shape.kind === "alias") throw new Error("cannot place an alias of nothing but itself");
      return shape.kind === "enum"
        ? { kind: "enum", shape, type: inside }
        : message({ kind: "declared", type: inside, shape });
    }
    case "wellKnown":
      // `NullValue` is the only enum among the well-known types.
      if (inside.name === "NullValue") return { kind: "enum", shape: nullValue, type: inside };
      return message({ kind: "wellKnown", name: inside.name, type: inside });
    default:
      return message({ kind: "handle", type: inside });
  }
}

const nullValue: EnumShape = {
  kind: "enum",
  origin: "enum",
  values: [{ name: "NULL_VALUE", value: 0, id: 0, doc: "", at: { file: "", line: 1, column: 1 } }],
};

interface FieldFormAndPresence {
  readonly form: FieldForm;
  readonly presence: Presence;
}

/** Returns the form and presence of a field of an interface. */
export function interfaceFieldForm(type: Type, optional: boolean, index: SchemaIndex): FieldFormAndPresence {
  const flattened = flattenedCases(type, optional);
  if (flattened === undefined) return elementForm(type, optional, index);
  const cases = flattened.map((field) => caseOf(field, index));
  const { core, nullable } = peel(type, index);
  const presence = optional ? "optional" : nullable ? "nullable" : "demanded";
  return { form: { kind: "oneof", cases, type: core }, presence };
}

/** Returns the form and presence of an element of a tuple or of an argument. */
export function elementForm(type: Type, optional: boolean, index: SchemaIndex): FieldFormAndPresence {
  const { core, nullable } = peel(type, index);
  if (optional && nullable) return { form: valueForm(type, index), presence: "optional" };
  if (optional || nullable) return { form: coreForm(core, index), presence: optional ? "optional" : "nullable" };
  const collection = collectionForm(throughAliases(core, index), index);
  if (collection !== undefined) return { form: collection, presence: "empty" };
  const form = coreForm(core, index);
  return { form, presence: presenceOf(form) };
}

/**
 * Returns the fields of a message in the order of their numbers. A flattened oneof has the position of its first case.
 */
export function fieldsOf(message: MessageForm, index: SchemaIndex): readonly MessageField[] {
  if (message.kind !== "declared") return withNames(inNumericOrder(membersOf(message, index)));
  let known = declared.get(index);
  if (known === undefined) {
    known = new WeakMap();
    declared.set(index, known);
  }
  const { shape } = message;
  const members = shape.kind === "message" ? shape.fields : shape.kind === "oneof" ? shape.cases : shape.variants;
  let fields = known.get(members);
  if (fields === undefined) {
    fields = withNames(inNumericOrder(declaredFields(shape, index)));
    known.set(members, fields);
  }
  return fields;
}

/**
 * Caches fields by the list of members. Lowering, and the emitters of writers and readers, all ask for the same fields.
 */
const declared = new WeakMap<SchemaIndex, WeakMap<object, readonly MessageField[]>>();

/** Returns the fields of the message that contains the arguments of a call. */
export function fieldsOfParameters(params: readonly Parameter[], index: SchemaIndex): readonly MessageField[] {
  return withNames(
    inNumericOrder(
      params.map(({ name, id, type, optional }, element) => ({ ...member(name, id, type, optional, index), element })),
    ),
  );
}

/** Assigns names in the order of numbers. A name that is already taken gets its number appended. */
function withNames(fields: readonly MessageField[]): readonly MessageField[] {
  const flat = fields.flatMap((field) => (field.form.kind === "oneof" ? field.form.cases : [field]));
  const members = [...flat].sort((a, b) => a.number - b.number);
  const names = memberNames(
    members.map(({ property, wireName, wireJson, number, form }) => ({
      member: property,
      ...(wireName !== undefined && { name: wireName }),
      ...(wireJson !== undefined && { json: wireJson }),
      number,
      isMap: form.kind === "map",
    })),
  );
  const found = new Map(members.map((field, i) => [field, names[i] as NamedMember]));
  const rename = (field: MessageField): MessageField => {
    if (field.form.kind === "oneof") return { ...field, form: { ...field.form, cases: field.form.cases.map(rename) } };
    return { ...field, ...found.get(field) };
  };
  return fields.map(rename);
}

function membersOf(message: MessageForm, index: SchemaIndex): readonly MessageField[] {
  switch (message.kind) {
    case "declared":
      return declaredFields(message.shape, index);
    case "tuple":
      return tupleFields(message.type.elements, message.type.rest, index);
    case "wellKnown":
      return [];
    case "timestamp":
      return [named("seconds", 1, scalar("int64"), "implicit"), named("nanos", 2, scalar("int32"), "implicit")];
    case "handle":
      return [named("state", 1, scalar("bytes"), "implicit")];
    case "entry": {
      const { key, value } = message.type;
      return [member("key", 1, key, false, index), member("value", 2, value, false, index)];
    }
    case "standIn":
      return [member(message.field, 1, message.type, false, index)];
  }
}

function declaredFields(
  shape: Extract<MessageForm, { kind: "declared" }>["shape"],
  index: SchemaIndex,
): readonly MessageField[] {
  switch (shape.kind) {
    case "message":
      return shape.fields.map((field) => {
        const { name, id, type, optional, tags } = field;
        const { form, presence } = interfaceFieldForm(type, optional, index);
        return {
          ...named(name, id, form, presence),
          ...taggedNames(field),
          ...(tags.unpacked && { unpacked: true }),
        };
      });
    case "oneof":
      return shape.cases.map((field) => caseOf(field, index));
    case "union":
      return shape.variants.map(({ tag, id, type }) => named(tag, id, valueForm(type, index), "case"));
  }
}

function tupleFields(
  elements: readonly TupleElement[],
  rest: Type | undefined,
  index: SchemaIndex,
): readonly MessageField[] {
  const fields = elements.map(({ name, type, optional }, i) => {
    return { ...member(name ?? unlabelledName(i), i + 1, type, optional, index), element: i };
  });
  if (rest === undefined) return fields;
  const list: Type = { kind: "array", element: rest, readonly: false };
  return [...fields, member("rest", elements.length + 1, list, false, index)];
}

/** Returns the name of a tuple's element without a label. */
export function unlabelledName(element: number): string {
  return `item${element + 1}`;
}

function caseOf(field: Field, index: SchemaIndex): MessageField {
  const { name, id, type } = field;
  return { ...named(name, id, valueForm(type, index), "case"), ...taggedNames(field) };
}

function taggedNames({ wireName, tags: { json } }: Field): Partial<MessageField> {
  return {
    ...(wireName !== undefined && { ...protoNames(wireName), wireName }),
    ...(json !== undefined && { wireJson: json }),
  };
}

function member(name: string, number: number, type: Type, optional: boolean, index: SchemaIndex): MessageField {
  const { form, presence } = elementForm(type, optional, index);
  return named(name, number, form, presence);
}

function named(property: string, number: number, form: FieldForm, presence: Presence): MessageField {
  return { property, ...protoNames(protoName(property)), number, presence, form };
}

function protoNames(name: string): { readonly name: string; readonly jsonName: string } {
  return { name, jsonName: jsonName(name) };
}

function inNumericOrder(fields: readonly MessageField[]): readonly MessageField[] {
  const first = ({ number, form }: MessageField): number =>
    form.kind === "oneof" ? Math.min(...form.cases.map((field) => field.number)) : number;
  return [...fields].sort((a, b) => first(a) - first(b));
}

/** Returns the form of a type that is a repeated field or a map, or undefined for a type of one value. */
function collectionForm(core: CoreType, index: SchemaIndex): FieldForm | undefined {
  switch (core.kind) {
    case "array":
    case "set":
      return { kind: "repeated", element: valueForm(core.element, index), type: core };
    case "typedArray": {
      const element = protoScalarOfElement(core.element);
      return element === undefined ? undefined : { kind: "repeated", element: scalar(element), type: core };
    }
    case "map": {
      const key = valueForm(core.key, index);
      if (key.kind !== "scalar" || !canBeMapKey(key.scalar)) {
        return { kind: "repeated", element: message({ kind: "entry", type: core }), type: core };
      }
      return { kind: "map", key: key.scalar, value: valueForm(core.value, index), type: core };
    }
    case "record":
      return { kind: "map", key: "string", value: valueForm(core.value, index), type: core };
    default:
      return undefined;
  }
}

/** Returns the meaning of absence for a field whose type requires a value. */
function presenceOf(form: ValueForm): Presence {
  switch (form.kind) {
    case "scalar":
      return "implicit";
    case "enum":
      return hasNumbers(form.shape) ? "implicit" : "demanded";
    case "message":
      return isDemanded(form.message) ? "demanded" : "always";
  }
}

/**
 * Returns whether an enum's values are integers, which are sent as they are. Otherwise the ids are sent, and no id is
 * 0.
 */
export function hasNumbers(shape: EnumShape): boolean {
  return shape.values.every(({ value }) => typeof value === "number" && Number.isInteger(value));
}

/** Returns whether a message has no default. Unions and handles have none, because an empty one is invalid. */
function isDemanded(message: MessageForm): boolean {
  return message.kind === "handle" || (message.kind === "declared" && message.shape.kind !== "message");
}

/** Returns the type that an alias of a composite type stands for. */
function throughAliases(core: CoreType, index: SchemaIndex): CoreType {
  if (core.kind !== "ref") return core;
  const shape = shapeOf(core, index);
  return shape.kind === "alias" ? throughAliases(peel(shape.type, index).core, index) : core;
}

function message(form: MessageForm): ValueForm {
  return { kind: "message", message: form };
}

function scalar(name: ProtoScalar): ValueForm {
  return { kind: "scalar", scalar: name, type: { kind: "scalar", scalar: plainScalars[name] ?? (name as "int32") } };
}

const plainScalars: Partial<Record<ProtoScalar, "double" | "float32" | "boolean">> = {
  float: "float32",
  bool: "boolean",
};
