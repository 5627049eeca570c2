/**
 * How types stand in the messages of the protobuf layout (docs/reference/protobuf-layout.md): as a scalar, an enum, a message, a
 * repeated field or a map; whether absence means something; and where protobuf has no word for them, as the message that
 * stands for them. Facts about a schema for all emitters; nothing is printed here, and no message is given a name.
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

/** One value on the wire: of a field, an element of a repeated one, a value of a map. */
export type ValueForm =
  | { readonly kind: "scalar"; readonly scalar: ProtoScalar; readonly type: CoreType }
  | { readonly kind: "enum"; readonly shape: EnumShape; readonly type: CoreType }
  | { readonly kind: "message"; readonly message: MessageForm };

/** A message, without its fields, which may refer back to it: `fieldsOf` tells them. */
export type MessageForm =
  /** An interface, a union or a `Oneof`, named or written in place. */
  | {
      readonly kind: "declared";
      readonly type: CoreType;
      readonly shape: ChoiceShape | Extract<Shape, { kind: "message" }>;
    }
  /** A `Date`: `google.protobuf.Timestamp`. */
  | { readonly kind: "timestamp" }
  /** Another message of `google.protobuf`, which the runtime has a codec for. */
  | { readonly kind: "wellKnown"; readonly name: WellKnownName; readonly type: Extract<Type, { kind: "wellKnown" }> }
  | { readonly kind: "tuple"; readonly type: Extract<Type, { kind: "tuple" }> }
  /** A port, a mesh, a buffer or a tensor: `bytes state = 1`. */
  | { readonly kind: "handle"; readonly type: CoreType }
  /** An element of the repeated field for a map whose keys no map of protobuf can have. Keeps no unknown fields. */
  | { readonly kind: "entry"; readonly type: Extract<Type, { kind: "map" }> }
  /** Stands for a type that protobuf cannot say in its place. Keeps no unknown fields. */
  | { readonly kind: "standIn"; readonly field: "items" | "entries" | "value"; readonly type: Type };

/** What a field holds. */
export type FieldForm =
  | ValueForm
  /** A list, or the entries of a map with keys that no map of protobuf can have. */
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
  /** A `Oneof` whose cases are fields of the message that it stands in. */
  | { readonly kind: "oneof"; readonly cases: readonly MessageField[]; readonly type: CoreType };

/**
 * What it means that a field is not on the wire. `implicit`: its default, which is not written. `always`: the message with
 * nothing in it; it is written nevertheless. `demanded`: that the message is refused; always written. `optional`: that
 * there is no such property, `nullable`: null. `case`: that its oneof has another case. `empty`: a collection without
 * elements.
 */
export type Presence = "implicit" | "always" | "demanded" | "optional" | "nullable" | "case" | "empty";

export interface MessageField {
  /** The property, the tag of the variant, the label of the element. */
  readonly property: string;
  /** In the `.proto`: in snake case, or as `@name` says. */
  readonly name: string;
  readonly jsonName: string;
  /** What `@name` says. */
  readonly wireName?: string;
  /** The value of `@json`. */
  readonly wireJson?: string;
  /** `@unpacked`: each element of the list has a field of its own. */
  readonly unpacked?: boolean;
  /** Of a flattened oneof, that of the member, which is not on the wire. */
  readonly number: number;
  readonly presence: Presence;
  readonly form: FieldForm;
  /** Of a tuple: which element it is. */
  readonly element?: number;
}

/** How a value stands where it must be one value: an element, a value of a map, a case of a oneof. */
export function valueForm(type: Type, index: SchemaIndex): ValueForm {
  const { core, nullable } = peel(type, index);
  return nullable ? message({ kind: "standIn", field: "value", type }) : coreForm(core, index);
}

/** As `valueForm`, of what is not null: a reference to an alias that may be null means what is not. */
function coreForm(core: CoreType, index: SchemaIndex): ValueForm {
  const inside = throughAliases(core, index);
  // The codec of such an alias writes null too.
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
      // The one enum among them.
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

/** How a field of an interface stands in its message. */
export function interfaceFieldForm(type: Type, optional: boolean, index: SchemaIndex): FieldFormAndPresence {
  const flattened = flattenedCases(type, optional);
  if (flattened === undefined) return elementForm(type, optional, index);
  const cases = flattened.map((field) => caseOf(field, index));
  const { core, nullable } = peel(type, index);
  const presence = optional ? "optional" : nullable ? "nullable" : "demanded";
  return { form: { kind: "oneof", cases, type: core }, presence };
}

/** How an element of a tuple, or an argument, stands in its message. */
export function elementForm(type: Type, optional: boolean, index: SchemaIndex): FieldFormAndPresence {
  const { core, nullable } = peel(type, index);
  if (optional && nullable) return { form: valueForm(type, index), presence: "optional" };
  if (optional || nullable) return { form: coreForm(core, index), presence: optional ? "optional" : "nullable" };
  const collection = collectionForm(throughAliases(core, index), index);
  if (collection !== undefined) return { form: collection, presence: "empty" };
  const form = coreForm(core, index);
  return { form, presence: presenceOf(form) };
}

/** The fields of a message in the order of their numbers; a flattened oneof stands where its first case does. */
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

/** By the list of members: whoever lowers a schema, writes its codecs or reads them asks for the same fields. */
const declared = new WeakMap<SchemaIndex, WeakMap<object, readonly MessageField[]>>();

/** The fields of the message that the arguments of a call are. */
export function fieldsOfParameters(params: readonly Parameter[], index: SchemaIndex): readonly MessageField[] {
  return withNames(
    inNumericOrder(
      params.map(({ name, id, type, optional }, element) => ({ ...member(name, id, type, optional, index), element })),
    ),
  );
}

/** Names in the order of numbers: one that comes twice has its number behind it. */
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

/** The name of a tuple's element that has no label. */
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

/** A type that is a repeated field or a map by itself; undefined for one value. */
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

/** What it means that a value that is there by its type is not on the wire. */
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

/** Whether the values of an enum are the numbers themselves; otherwise their ids are, and 0 is none of them. */
export function hasNumbers(shape: EnumShape): boolean {
  return shape.values.every(({ value }) => typeof value === "number" && Number.isInteger(value));
}

/** Of unions and handles there is no value with nothing in it. */
function isDemanded(message: MessageForm): boolean {
  return message.kind === "handle" || (message.kind === "declared" && message.shape.kind !== "message");
}

/** What an alias of a composite type stands for. */
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
