/**
 * Creates the messages and enums of a schema while it is lowered. Each one is created once, when something first needs
 * it, and is ordered before the messages that it contains.
 */

import { simpleName } from "../../../shared/names/qualified-name.js";
import { protoName } from "../../../shared/protobuf/names.js";
import type { ProtoEnum, ProtoField, ProtoMessage, ProtoType } from "../../../shared/protobuf/proto-schema.js";
import { wellKnownPackage } from "../../../shared/protobuf/well-known-files.js";
import { instantiate, type SchemaIndex } from "../../model/resolve.js";
import type { TypeDeclaration } from "../../model/schema.js";
import type { Shape, Type } from "../../model/type.js";
import {
  type EnumShape,
  elementForm,
  fieldsOf,
  type MessageField,
  type MessageForm,
  type ValueForm,
  valueForm,
} from "../form/form.js";
import { withoutPlainFields } from "../form/plain-fields.js";
import { enumsInShape } from "./enum-paths.js";
import type { FileSorter } from "./file-sorter.js";
import { handleMessages, handleName } from "./handle-messages.js";
import { EnumValueNames, lowerEnum } from "./lower-enum.js";
import type { Origin } from "./lowered-schema.js";
import type { PackageNames } from "./message-names.js";
import type { ModuleOrigins } from "./module-origins.js";
import { elementStep, memberStep, type NamePath, namePathBelow, steps, variantStep } from "./name-path.js";
import type { NamePaths, TypeAtPath } from "./name-paths.js";
import { readerLosses } from "./reader-losses.js";
import { mergeReserved, type NamesInUse, type Reserved, type Tombstones } from "./tombstones.js";

/** A field with the type that it comes from and the path of that type. */
export interface MemberAtPath extends TypeAtPath {
  readonly field: MessageField;
  readonly doc?: string;
  /** The present and former names in the schema. */
  readonly names?: readonly string[];
  /** The path of the elements, if it is not the usual one. */
  readonly items?: NamePath;
}

/** A protobuf field; the cases of a flattened oneof are separate fields. */
interface FieldAtPath extends MemberAtPath {
  readonly oneof: string | undefined;
}

/** The shared parts of one lowering. */
export interface LowerContext {
  readonly index: SchemaIndex;
  readonly names: PackageNames;
  readonly origins: ModuleOrigins;
  readonly places: NamePaths;
  readonly tombstones: Tombstones;
  readonly files: FileSorter;
  /** Whether only names are needed. Messages then get no fields, and enums get no values. */
  readonly namesOnly: boolean;
}

export class MessageLowering {
  readonly #index: SchemaIndex;
  readonly #names: PackageNames;
  readonly #modules: ModuleOrigins;
  readonly #places: NamePaths;
  readonly #tombstones: Tombstones;
  readonly #files: FileSorter;
  readonly #namesOnly: boolean;
  readonly #values: EnumValueNames;
  /** Full names of messages by their key, see `define`. */
  readonly #known = new Map<string, string>();
  readonly messages = new Map<string, ProtoMessage>();
  readonly enums = new Map<string, ProtoEnum>();
  /** Full names by the shape objects of the schema. */
  readonly enumNames = new Map<EnumShape, string>();
  readonly origins = new Map<string, Origin>();
  readonly memberNames = new Map<string, readonly string[]>();

  constructor({ index, names, origins, places, tombstones, files, namesOnly }: LowerContext) {
    this.#index = index;
    this.#names = names;
    this.#modules = origins;
    this.#places = places;
    this.#tombstones = tombstones;
    this.#files = files;
    this.#namesOnly = namesOnly;
    this.#values = new EnumValueNames(names.clashes);
  }

  declaration(declaration: TypeDeclaration): void {
    if (declaration.typeParameters.length > 0 || !this.#places.isOwnMessage(declaration)) return;
    const type: Type = { kind: "ref", target: declaration.key, args: [] };
    const place = this.#places.declaredPath(declaration);
    if (valueForm(type, this.#index).kind === "scalar") this.#standIn("value", type, place);
    else this.#value(type, place);
  }

  /**
   * Adds the inline enums of a generic declaration that has no instance yet. Instances in other packages refer to them,
   * and its codec writes the names of their values.
   */
  enumsOfGeneric(declaration: TypeDeclaration): void {
    if (declaration.typeParameters.length === 0) return;
    const args = declaration.typeParameters.map((): Type => ({ kind: "scalar", scalar: "string" }));
    const shape = instantiate(declaration, args);
    const place = this.#places.genericPath(declaration);
    for (const found of enumsInShape(shape, place, this.#index)) this.#enum(found.shape, found.place);
  }

  #value(type: Type, place: NamePath): ProtoType {
    const form = valueForm(type, this.#index);
    switch (form.kind) {
      case "scalar":
        return { kind: "scalar", scalar: form.scalar };
      case "enum":
        if (form.type.kind === "wellKnown") return { kind: "enum", name: `${wellKnownPackage}.${form.type.name}` };
        return { kind: "enum", name: this.#enum(form.shape, this.#places.unwrap({ type, place }).place) };
      case "message":
        return { kind: "message", name: this.#message(form.message, type, place) };
    }
  }

  #message(message: MessageForm, type: Type, place: NamePath): string {
    switch (message.kind) {
      case "timestamp":
        return `${wellKnownPackage}.Timestamp`;
      case "wellKnown":
        return `${wellKnownPackage}.${message.type.name}`;
      case "handle":
        return this.#handle(message.type.kind);
      case "declared":
        return this.#declared(message, this.#places.unwrap({ type, place }).place);
      case "tuple":
        return this.#tuple(message, this.#places.unwrap({ type, place }).place);
      case "entry":
        return this.#entry(message, namePathBelow(place, steps.entry));
      case "standIn": {
        if (message.field !== "value")
          return this.#standIn(message.field, type, this.#places.unwrap({ type, place }).place);
        const named = this.#places.nullableAlias(type);
        return this.#standIn("value", type, named === undefined ? place : this.#places.pathOf(named, place));
      }
    }
  }

  #handle(kind: string): string {
    // Adds all handle messages, so that their file is the same in every project that needs one.
    for (const { message, doc } of handleMessages) {
      this.messages.set(message.name, message);
      this.origins.set(message.name, { place: message.name, doc, at: { file: "", line: 1, column: 1 } });
    }
    return handleName(kind);
  }

  #declared(message: Extract<MessageForm, { kind: "declared" }>, place: NamePath): string {
    return this.define("message", place, (own, full) => {
      const shape = this.#namesOnly ? withoutPlainFields(message.shape) : message.shape;
      const forms = fieldsOf({ ...message, shape }, this.#index);
      const oneof = shape.kind === "message" ? undefined : this.#oneofName(shape, forms);
      const members = forms.map((field) => this.#memberOf(shape, field, own));
      const fields = this.fields(members, full, oneof);
      if (this.#namesOnly) return { name: full, fields };
      const reserved = this.#reservedOf(shape.kind, members, own, namesInUse(fields));
      const demanded = oneof === undefined ? demandedOneofs(members) : [oneof];
      return {
        name: full,
        fields,
        ...(demanded.length > 0 && { demandedOneofs: demanded }),
        ...(shape.kind !== "message" && { standsFor: shape.kind }),
        ...(reserved && { reserved }),
      };
    });
  }

  /**
   * Returns the name of the oneof in a message for a union or a `Oneof`. For a union, it is the name of the
   * discriminant.
   */
  #oneofName(shape: Extract<Shape, { kind: "union" | "oneof" }>, fields: readonly MessageField[]): string {
    const taken = new Set(fields.map(({ name }) => name));
    let name = shape.kind === "union" ? protoName(shape.discriminant) : "value";
    while (taken.has(name)) name = `${name}_case`;
    return name;
  }

  #memberOf(shape: Shape, field: MessageField, place: NamePath): MemberAtPath {
    switch (shape.kind) {
      case "message": {
        const { name, type, doc, at, id } = findMember(shape.fields, field);
        const names = this.#namesOf(shape.kind, place, name, id);
        return { field, type, doc, names, place: namePathBelow(place, memberStep(name, at)) };
      }
      case "oneof": {
        const { name, type, doc, at, id } = findMember(shape.cases, field);
        const names = this.#namesOf(shape.kind, place, name, id);
        return { field, type, doc, names, place: namePathBelow(place, memberStep(name, at)) };
      }
      case "union": {
        const variant = shape.variants.find(({ tag }) => tag === field.property);
        if (variant === undefined) throw new Error(`cannot find the variant ${field.property} of ${place.path}`);
        const { tag, id, type, at } = variant;
        const names = this.#namesOf(shape.kind, place, tag, id);
        return { field, type, names, place: namePathBelow(place, variantStep(tag, at)) };
      }
      default:
        throw new Error(`cannot take ${place.path} for a message`);
    }
  }

  #namesOf(
    kind: "message" | "oneof" | "union" | "enum",
    { path, lockModule }: NamePath,
    name: string,
    id: number,
  ): readonly string[] {
    return [name, ...this.#tombstones.formerNames(kind, path, lockModule, id)];
  }

  /** Combines the tombstones of a message with those of the oneofs whose cases are fields of the message. */
  #reservedOf(
    kind: "message" | "oneof" | "union",
    members: readonly MemberAtPath[],
    { path, lockModule }: NamePath,
    inUse: NamesInUse,
  ): Reserved | undefined {
    const inside = members.filter(({ field }) => field.form.kind === "oneof");
    return mergeReserved([
      this.#tombstones.reservedOfMessage(kind, path, lockModule, inUse),
      ...inside.map(({ place }) => this.#tombstones.reservedOfMessage("oneof", place.path, lockModule, inUse)),
    ]);
  }

  #tuple(message: Extract<MessageForm, { kind: "tuple" }>, place: NamePath): string {
    return this.define("tuple", place, (own, full) => {
      const { elements, rest } = message.type;
      const members = fieldsOf(message, this.#index).map((field): MemberAtPath => {
        const i = field.number - 1;
        const element = elements[i];
        if (element !== undefined)
          return { field, type: element.type, place: namePathBelow(own, elementStep(i, element.name)) };
        const place = namePathBelow(own, steps.rest);
        const list: Type = { kind: "array", element: rest as Type, readonly: false };
        return { field, type: list, place, items: namePathBelow(place, steps.restItem) };
      });
      return { name: full, fields: this.fields(members, full), standsFor: "tuple" };
    });
  }

  #entry(message: Extract<MessageForm, { kind: "entry" }>, place: NamePath): string {
    return this.define("entry", place, (own, full) => {
      const { key, value } = message.type;
      const members = fieldsOf(message, this.#index).map((field): MemberAtPath => {
        const isKey = field.number === 1;
        return { field, type: isKey ? key : value, place: namePathBelow(own, isKey ? steps.key : steps.value) };
      });
      return { name: full, fields: this.fields(members, full), standsFor: "part" };
    });
  }

  #standIn(name: "items" | "entries" | "value", type: Type, place: NamePath): string {
    const nullable = name === "value" && valueForm(type, this.#index).kind === "message";
    return this.define(name, place, (own, full) => {
      const start = nullable ? namePathBelow(own, steps.notNull) : own;
      const inside = this.#places.unwrap({ type, place: start });
      const inner: Type = nullable ? { kind: "nullable", inner: inside.type } : inside.type;
      const placed = elementForm(inner, false, this.#index);
      const field: MessageField = { property: name, name, jsonName: name, number: 1, ...placed };
      const fields = this.fields([{ field, type: inside.type, place: inside.place }], full);
      return { name: full, fields, standsFor: "part" };
    });
  }

  /** Creates a message once per key and returns its full name. Messages that it needs are ordered after it. */
  define(kind: string, place: NamePath, make: (own: NamePath, full: string) => ProtoMessage): string {
    const scope = this.#modules.of(place.module).package;
    const key = `${kind} ${scope} ${place.name} ${place.path} ${place.lockModule}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const own = this.#own(place);
    const full = this.#names.of(own.module).fullName(own.name);
    this.#known.set(key, full);
    // Reserves the position in the order before `make` adds the contained messages.
    this.messages.set(full, { name: full, fields: [] });
    this.noteOrigin(full, own);
    this.#files.add(full, "messages", own.module);
    this.messages.set(full, make(own, full));
    return full;
  }

  #enum(shape: EnumShape, place: NamePath): string {
    const known = this.enumNames.get(shape);
    if (known !== undefined) return known;
    // An enum depends on no type argument, so it belongs to the file of the generic type and not to that of an
    // instance.
    const own = this.#own({ ...place, name: place.enumName, module: place.lockModule });
    const full = this.#names.of(own.module).fullName(own.name);
    this.enumNames.set(shape, full);
    this.noteOrigin(full, own);
    if (this.#namesOnly) return full;
    this.#files.add(full, "enums", own.module);
    const simple = simpleName(own.name);
    const lowered = lowerEnum(shape, full, simple, (inUse) =>
      this.#tombstones.reservedOfEnum(own.path, own.lockModule, simple, inUse),
    );
    this.enums.set(full, lowered.lowered);
    this.#values.claim(lowered, own);
    for (const [i, value] of lowered.lowered.values.entries()) {
      const { name = "", doc = "", at = own.at } = lowered.sources[i] ?? {};
      if (name !== "") this.memberNames.set(`${full}.${value.name}`, this.#namesOf("enum", own, name, value.number));
      this.origins.set(`${full}.${value.name}`, { place: name === "" ? own.path : `${own.path}.${name}`, doc, at });
    }
    return full;
  }

  #own(place: NamePath): NamePath {
    return place.isClaimed
      ? place
      : { ...place, name: this.#names.of(place.module).findFree(place.name, place.path), isClaimed: true };
  }

  noteOrigin(name: string, { path, doc, at }: NamePath): void {
    if (!this.#namesOnly) this.origins.set(name, { place: path, doc, at });
  }

  /** Returns the fields in the order of their numbers. */
  fields(members: readonly MemberAtPath[], full: string, oneof?: string): readonly ProtoField[] {
    for (const { field, place } of members) {
      if (field.form.kind === "oneof") this.noteOrigin(`${full}.${protoName(field.property)}`, place);
    }
    const leaves = members
      .flatMap((member) => (member.field.form.kind === "oneof" ? this.#casesOf(member) : [{ ...member, oneof }]))
      .sort((a, b) => a.field.number - b.field.number);
    if (this.#namesOnly) {
      for (const leaf of leaves) this.#typeOf(leaf);
      return [];
    }
    return leaves.map((member) => this.#field(member, full));
  }

  #field(member: FieldAtPath, full: string): ProtoField {
    const { field, place, doc = "", oneof, names } = member;
    const { name, jsonName, form, number, presence } = field;
    this.noteOrigin(`${full}.${name}`, { ...place, doc });
    if (names !== undefined) this.memberNames.set(`${full}.${name}`, names);
    const base = { name, jsonName, number };
    const type = this.#typeOf(member);
    switch (form.kind) {
      case "repeated":
        return {
          ...base,
          cardinality: "repeated",
          ...type,
          ...readerLosses(form, this.#index),
          ...(field.unpacked && { packed: false }),
        };
      case "map":
        return { ...base, cardinality: "map", key: form.key, ...type };
      default: {
        const isPlain = form.kind !== "message" && (presence === "implicit" || presence === "demanded");
        return {
          ...base,
          cardinality: isPlain ? "implicit" : "explicit",
          ...type,
          ...(oneof !== undefined && { oneof }),
          ...(presence === "demanded" && { demanded: true }),
          ...(presence === "always" && { always: true }),
        };
      }
    }
  }

  /** Returns the type of a field's values and what they carry. Creates the messages and enums that the type needs. */
  #typeOf(member: FieldAtPath): Pick<ProtoField, "type" | "carries" | "millis"> {
    const { field, place } = member;
    const { form } = field;
    switch (form.kind) {
      case "repeated":
        return { type: this.#element(form.element, member), ...this.#carried(form.element, place) };
      case "map":
        return { type: this.#mapValue(member), ...this.#carried(form.value, place) };
      case "oneof":
        throw new Error(`cannot take ${place.path} for a field: it is a oneof`);
      default:
        return { type: this.#valueOf(form, member), ...this.#carried(form, place) };
    }
  }

  /** Returns what a handle carries, which its message does not state, and whether a time loses precision. */
  #carried(form: ValueForm, place: NamePath): Pick<ProtoField, "carries" | "millis"> {
    if (form.kind !== "message") return {};
    if (form.message.kind === "timestamp") return { millis: true };
    if (form.message.kind !== "handle") return {};
    const { type } = form.message;
    if (type.kind === "mesh") return { carries: { kind: "mesh", actor: this.#index.actor(type.actor).id } };
    if (type.kind !== "port") return {};
    return { carries: { kind: "port", type: this.#value(type.element, namePathBelow(place, steps.port)) } };
  }

  /** Returns the cases of a flattened oneof as fields of the message. */
  #casesOf({ field, type, place }: MemberAtPath): readonly FieldAtPath[] {
    if (field.form.kind !== "oneof") return [];
    const inside = this.#places.unwrap({ type, place });
    if (inside.type.kind !== "inline") throw new Error(`cannot take ${place.path} for a oneof`);
    const { shape } = inside.type;
    const oneof = protoName(field.property);
    return field.form.cases.map((item) => ({ ...this.#memberOf(shape, item, inside.place), oneof }));
  }

  #valueOf(form: ValueForm, { type, place, field }: MemberAtPath): ProtoType {
    // If the presence of the field represents null, the message is that of the type without null.
    const isWrapped = form.kind === "message" && form.message.kind === "standIn" && form.message.field === "value";
    if (isWrapped || (field.presence !== "optional" && field.presence !== "nullable")) return this.#value(type, place);
    const inside = this.#places.unwrap({ type, place });
    return this.#value(inside.type, inside.place);
  }

  #element(form: ValueForm, { type, place, items }: MemberAtPath): ProtoType {
    const inside = this.#places.unwrap({ type, place });
    if (form.kind === "message" && form.message.kind === "entry") {
      return { kind: "message", name: this.#message(form.message, inside.type, inside.place) };
    }
    if (inside.type.kind === "array" || inside.type.kind === "set") {
      return this.#value(inside.type.element, items ?? namePathBelow(inside.place, steps.item));
    }
    if (form.kind === "scalar") return { kind: "scalar", scalar: form.scalar };
    throw new Error(`cannot take ${place.path} for a list`);
  }

  #mapValue({ type, place }: MemberAtPath): ProtoType {
    const inside = this.#places.unwrap({ type, place });
    if (inside.type.kind !== "map" && inside.type.kind !== "record")
      throw new Error(`cannot take ${place.path} for a map`);
    return this.#value(inside.type.value, namePathBelow(inside.place, steps.value));
  }
}

export function findMember<M extends { readonly name: string }>(members: readonly M[], { property }: MessageField): M {
  const found = members.find(({ name }) => name === property);
  if (found === undefined) throw new Error(`cannot find the member ${property}`);
  return found;
}

function demandedOneofs(members: readonly MemberAtPath[]): readonly string[] {
  return members
    .filter(({ field }) => field.form.kind === "oneof" && field.presence === "demanded")
    .map(({ field }) => protoName(field.property));
}

export function namesInUse(fields: readonly ProtoField[]): NamesInUse {
  return { numbers: new Set(fields.map(({ number }) => number)), names: new Set(fields.map(({ name }) => name)) };
}
