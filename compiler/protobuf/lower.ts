/**
 * From the schema model to protobuf, as docs/protobuf-layout.md has it: every type that is declared, everything that
 * declared types need and protobuf wants as a message of its own, and a service for every actor. Pure; the same schema and
 * lock give the same, whatever the order of files.
 *
 * How types stand in messages is told by position.ts; here messages get names, files and tombstones.
 */
import type {
  ProtoEnum,
  ProtoField,
  ProtoMessage,
  ProtoMethod,
  ProtoService,
  ProtoType,
} from "../../schemas/protobuf/descriptor.js";
import { snakeCase } from "../../schemas/protobuf/names.js";
import type { Lock } from "../lock/index.js";
import { indexSchema, instantiate, partsOf, type SchemaIndex, typeKey } from "../model/resolve.js";
import type { ActorDeclaration, Endpoint, Module, Parameter, Schema, TypeDeclaration } from "../model/schema.js";
import type { Field, Shape, Type } from "../model/type.js";
import { FileSorter } from "./files.js";
import { handleMessages, handleName } from "./handles.js";
import { lowerEnum, ValueNames } from "./lower-enum.js";
import type { Lowered, Origin } from "./lowered.js";
import { argumentName, Names, pascalCase } from "./message-names.js";
import { below, elementStep, memberStep, type Place, steps, variantStep } from "./place.js";
import {
  type EnumShape,
  elementForm,
  fieldsOf,
  fieldsOfParameters,
  type MessageField,
  type MessageForm,
  type ValueForm,
  valueForm,
} from "./position.js";
import { type InUse, type Reserved, Tombstones } from "./tombstones.js";

export interface LowerOptions {
  /** The protobuf package: `acme.shop.v1`. */
  readonly package: string;
  /** The folder that all schema files are below: file names begin there. */
  readonly schemaRoot: string;
}

/**
 * @param schema with ids, free of errors
 * @param lock the one that goes with it: tombstones come from there
 */
export function lower(schema: Schema, lock: Lock, options: LowerOptions): Lowered {
  return new Lowering(schema, lock, options).run();
}

type Reference = Extract<Type, { kind: "ref" }>;
type Placed = { readonly type: Type; readonly place: Place };

/** A field with the type that it comes from, and where that stands. */
interface Member extends Placed {
  readonly field: MessageField;
  readonly doc?: string;
  /** Where elements stand, if not where they usually do. */
  readonly items?: Place;
}

class Lowering {
  readonly #schema: Schema;
  readonly #index: SchemaIndex;
  readonly #options: LowerOptions;
  readonly #names: Names;
  readonly #values: ValueNames;
  readonly #tombstones: Tombstones;
  readonly #files: FileSorter;
  readonly #messages = new Map<string, ProtoMessage>();
  readonly #enums = new Map<string, ProtoEnum>();
  readonly #services = new Map<string, ProtoService>();
  readonly #constructors = new Map<string, ProtoMessage>();
  readonly #origins = new Map<string, Origin>();
  /** Full names of messages and enums, by what they are. */
  readonly #known = new Map<string, string>();
  /** Of declarations without type parameters, and of instances of others. */
  readonly #places = new Map<string, Place>();

  constructor(schema: Schema, lock: Lock, options: LowerOptions) {
    // The order of files never matters.
    this.#schema = { ...schema, modules: [...schema.modules].sort((a, b) => (a.path < b.path ? -1 : 1)) };
    this.#index = indexSchema(schema);
    this.#options = options;
    this.#names = new Names(options.package);
    this.#values = new ValueNames(this.#names.clashes);
    this.#tombstones = new Tombstones(lock);
    this.#files = new FileSorter(options);
  }

  run(): Lowered {
    const { modules } = this.#schema;
    for (const module of modules) for (const declaration of module.types) this.#claim(declaration, module);
    for (const module of modules) {
      for (const declaration of module.types) this.#declaration(declaration);
      for (const actor of module.actors) this.#actor(actor, module);
    }
    const schema = { messages: this.#messages, enums: this.#enums, services: this.#services };
    return {
      package: this.#options.package,
      schema,
      files: this.#files.sort(schema),
      origins: this.#origins,
      constructors: this.#constructors,
      clashes: this.#names.clashes,
    };
  }

  /** Names of declarations come before all others, so that those give way. */
  #claim(declaration: TypeDeclaration, module: Module): void {
    const { key, name, doc, at, typeParameters } = declaration;
    if (typeParameters.length > 0) return;
    const isClaimed = this.#isOwnMessage(declaration);
    const wanted = pascalCase(name);
    this.#places.set(key, {
      name: isClaimed ? this.#names.claim(wanted, `${name} of ${module.path}`, at) : wanted,
      isClaimed,
      path: name,
      lockModule: module.path,
      module: module.path,
      doc,
      at,
      args: new Map(),
    });
  }

  #declaration(declaration: TypeDeclaration): void {
    if (declaration.typeParameters.length > 0 || !this.#isOwnMessage(declaration)) return;
    const type: Type = { kind: "ref", target: declaration.key, args: [] };
    const place = this.#placeOf(type, this.#place(declaration.key));
    if (valueForm(type, this.#index).kind === "scalar") this.#standIn("value", type, place);
    else this.#value(type, place);
  }

  /**
   * Whether a declaration is a message or an enum by its own name: all but aliases of what has one already, and those that
   * nobody outside sees, which become messages where somebody needs them.
   */
  #isOwnMessage({ key, shape, exported }: TypeDeclaration): boolean {
    if (shape.kind !== "alias") return true;
    if (!exported) return false;
    const type: Type = { kind: "ref", target: key, args: [] };
    const form = valueForm(type, this.#index);
    if (form.kind !== "message") return form.kind === "scalar";
    if (form.message.kind !== "standIn" && form.message.kind !== "tuple") return false;
    return this.#namedBy(type)?.target === key;
  }

  /** The reference whose name the message for `type` has; undefined: it is written in place. */
  #namedBy(type: Type): Reference | undefined {
    let named: Reference | undefined;
    for (let inside = type; ; ) {
      if (inside.kind === "ref") {
        named = inside;
        const shape = instantiate(this.#index.type(inside.target), inside.args);
        if (shape.kind !== "alias") return named;
        inside = shape.type;
      } else if (inside.kind === "inline" && inside.shape.kind === "alias") inside = inside.shape.type;
      else return named;
    }
  }

  /** The alias by whose name something is known that may be null; undefined: it is written in place. */
  #nullableAlias(type: Type): Reference | undefined {
    if (type.kind === "inline" && type.shape.kind === "alias") return this.#nullableAlias(type.shape.type);
    if (type.kind !== "ref") return undefined;
    const shape = instantiate(this.#index.type(type.target), type.args);
    if (shape.kind !== "alias") return undefined;
    return isNullable(shape.type) ? type : this.#nullableAlias(shape.type);
  }

  /** `type` without null and without the aliases around it, and where that stands. */
  #unwrap({ type, place }: Placed): Placed {
    switch (type.kind) {
      case "nullable":
        return this.#unwrap({ type: type.inner, place: below(place, { name: "", path: "" }) });
      case "inline":
        return type.shape.kind === "alias"
          ? this.#unwrap({ type: type.shape.type, place })
          : this.#inPlace(type, place);
      case "ref": {
        const shape = instantiate(this.#index.type(type.target), type.args);
        const own = this.#placeOf(type, place);
        if (shape.kind !== "alias") return { type, place: own };
        // The alias is the name of what may be null: what is not is called otherwise.
        const isOther = isNullable(shape.type);
        return this.#unwrap({ type: shape.type, place: isOther ? below(own, steps.notNull) : own });
      }
      default:
        return { type, place };
    }
  }

  /** An argument of a generic type that is written in place has a place of its own. */
  #inPlace(type: Type, place: Place): Placed {
    return { type, place: place.args.get(typeKey(type)) ?? place };
  }

  #value(type: Type, place: Place): ProtoType {
    const form = valueForm(type, this.#index);
    switch (form.kind) {
      case "scalar":
        return { kind: "scalar", scalar: form.scalar };
      case "enum":
        return { kind: "enum", name: this.#enum(form.shape, this.#unwrap({ type, place }).place) };
      case "message":
        return { kind: "message", name: this.#message(form.message, type, place) };
    }
  }

  #message(message: MessageForm, type: Type, place: Place): string {
    switch (message.kind) {
      case "timestamp":
        return "google.protobuf.Timestamp";
      case "handle":
        return this.#handle(message.type.kind);
      case "declared":
        return this.#declared(message, this.#unwrap({ type, place }).place);
      case "tuple":
        return this.#tuple(message, this.#unwrap({ type, place }).place);
      case "entry":
        return this.#entry(message, below(place, steps.entry));
      case "standIn": {
        if (message.field !== "value") return this.#standIn(message.field, type, this.#unwrap({ type, place }).place);
        const named = this.#nullableAlias(type);
        return this.#standIn("value", type, named === undefined ? place : this.#placeOf(named, place));
      }
    }
  }

  #handle(kind: string): string {
    // All of them, so that the file is the same in every project that needs one.
    for (const { message, doc } of handleMessages) {
      this.#messages.set(message.name, message);
      this.#origins.set(message.name, { place: message.name, doc, at: { file: "", line: 1, column: 1 } });
    }
    return handleName(kind);
  }

  #declared(message: Extract<MessageForm, { kind: "declared" }>, place: Place): string {
    return this.#define("message", place, (own, full) => {
      const { shape } = message;
      const forms = fieldsOf(message, this.#index);
      const oneof = shape.kind === "message" ? undefined : this.#oneofName(shape, forms);
      const members = forms.map((field) => this.#memberOf(shape, field, own));
      const fields = this.#fields(members, full, oneof);
      const reserved = this.#reservedOf(shape.kind, members, own, inUseOf(fields));
      const demanded = oneof === undefined ? demandedOneofs(members) : [oneof];
      return {
        name: full,
        fields,
        ...(demanded.length > 0 && { demandedOneofs: demanded }),
        ...(reserved && { reserved }),
      };
    });
  }

  /** In protobuf a oneof has a name too: that of what tells the variants apart. */
  #oneofName(shape: Extract<Shape, { kind: "union" | "oneof" }>, fields: readonly MessageField[]): string {
    const taken = new Set(fields.map(({ name }) => name));
    let name = shape.kind === "union" ? oneofName(shape.discriminant) : "value";
    while (taken.has(name)) name = `${name}_case`;
    return name;
  }

  #memberOf(shape: Shape, field: MessageField, place: Place): Member {
    switch (shape.kind) {
      case "message": {
        const { name, type, doc, at } = find(shape.fields, field);
        return { field, type, doc, place: below(place, memberStep(name, at)) };
      }
      case "oneof": {
        const { name, type, doc, at } = find(shape.cases, field);
        return { field, type, doc, place: below(place, memberStep(name, at)) };
      }
      case "union": {
        const variant = shape.variants.find(({ tag }) => tag === field.property);
        if (variant === undefined) throw new Error(`cannot find the variant ${field.property} of ${place.path}`);
        return { field, type: variant.type, place: below(place, variantStep(variant.tag, variant.at)) };
      }
      default:
        throw new Error(`cannot take ${place.path} for a message`);
    }
  }

  /** Its own tombstones, and those of oneofs whose cases are fields of it. */
  #reservedOf(
    kind: "message" | "oneof" | "union",
    members: readonly Member[],
    { path, lockModule }: Place,
    inUse: InUse,
  ): Reserved | undefined {
    const inside = members.filter(({ field }) => field.form.kind === "oneof");
    return mergeReserved([
      this.#tombstones.ofMessage(kind, path, lockModule, inUse),
      ...inside.map(({ place }) => this.#tombstones.ofMessage("oneof", place.path, lockModule, inUse)),
    ]);
  }

  #tuple(message: Extract<MessageForm, { kind: "tuple" }>, place: Place): string {
    return this.#define("tuple", place, (own, full) => {
      const { elements, rest } = message.type;
      const members = fieldsOf(message, this.#index).map((field): Member => {
        const i = field.number - 1;
        const element = elements[i];
        if (element !== undefined)
          return { field, type: element.type, place: below(own, elementStep(i, element.name)) };
        const place = below(own, steps.rest);
        const list: Type = { kind: "array", element: rest as Type, readonly: false };
        return { field, type: list, place, items: below(place, steps.restItem) };
      });
      return { name: full, fields: this.#fields(members, full) };
    });
  }

  #entry(message: Extract<MessageForm, { kind: "entry" }>, place: Place): string {
    return this.#define("entry", place, (own, full) => {
      const { key, value } = message.type;
      const members = fieldsOf(message, this.#index).map((field): Member => {
        const isKey = field.number === 1;
        return { field, type: isKey ? key : value, place: below(own, isKey ? steps.key : steps.value) };
      });
      return { name: full, fields: this.#fields(members, full) };
    });
  }

  #standIn(name: "items" | "entries" | "value", type: Type, place: Place): string {
    const nullable = name === "value" && valueForm(type, this.#index).kind === "message";
    return this.#define(name, place, (own, full) => {
      const start = nullable ? below(own, steps.notNull) : own;
      const inside = this.#unwrap({ type, place: start });
      const inner: Type = nullable ? { kind: "nullable", inner: inside.type } : inside.type;
      const placed = elementForm(inner, false, this.#index);
      const field: MessageField = { property: name, name, jsonName: name, number: 1, ...placed };
      return { name: full, fields: this.#fields([{ field, type: inside.type, place: inside.place }], full) };
    });
  }

  /** A message by what it is; made once. What it needs comes behind it. */
  #define(kind: string, place: Place, make: (own: Place, full: string) => ProtoMessage): string {
    const key = `${kind} ${place.name} ${place.path} ${place.lockModule}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const own = this.#own(place);
    const full = this.#names.full(own.name);
    this.#known.set(key, full);
    // Takes its place in the order before what is in it.
    this.#messages.set(full, { name: full, fields: [] });
    this.#note(full, own);
    this.#files.add(full, "messages", own.module);
    this.#messages.set(full, make(own, full));
    return full;
  }

  #enum(shape: EnumShape, place: Place): string {
    const key = `enum ${place.name} ${place.path} ${place.lockModule}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const own = this.#own(place);
    const full = this.#names.full(own.name);
    this.#known.set(key, full);
    this.#note(full, own);
    this.#files.add(full, "enums", own.module);
    const lowered = lowerEnum(shape, full, own.name, (inUse) =>
      this.#tombstones.ofEnum(own.path, own.lockModule, own.name, inUse),
    );
    this.#enums.set(full, lowered.lowered);
    this.#values.claim(lowered, own);
    for (const [i, value] of lowered.lowered.values.entries()) {
      const { name = "", doc = "", at = own.at } = lowered.sources[i] ?? {};
      this.#origins.set(`${full}.${value.name}`, { place: name === "" ? own.path : `${own.path}.${name}`, doc, at });
    }
    return full;
  }

  #own(place: Place): Place {
    return place.isClaimed ? place : { ...place, name: this.#names.find(place.name, place.path), isClaimed: true };
  }

  #note(name: string, { path, doc, at }: Place): void {
    this.#origins.set(name, { place: path, doc, at });
  }

  /** In the order of their numbers. */
  #fields(members: readonly Member[], full: string, oneof?: string): readonly ProtoField[] {
    const fields = members.flatMap((member) => this.#field(member, full, oneof));
    return fields.sort((a, b) => a.number - b.number);
  }

  #field(member: Member, full: string, oneof?: string): readonly ProtoField[] {
    const { field, place, doc = "" } = member;
    const { form, name, jsonName, number, presence } = field;
    if (form.kind === "oneof") return this.#flattened(member, full);
    this.#note(`${full}.${name}`, { ...place, doc });
    const base = { name, jsonName, number };
    switch (form.kind) {
      case "repeated":
        return [{ ...base, cardinality: "repeated", type: this.#element(form.element, member) }];
      case "map":
        return [{ ...base, cardinality: "map", key: form.key, type: this.#mapValue(member) }];
      default: {
        const isPlain = form.kind !== "message" && (presence === "implicit" || presence === "demanded");
        return [
          {
            ...base,
            cardinality: isPlain ? "implicit" : "explicit",
            type: this.#valueOf(form, member),
            ...(oneof !== undefined && { oneof }),
            ...(presence === "demanded" && { demanded: true }),
          },
        ];
      }
    }
  }

  /** The cases of a oneof are fields of the message. */
  #flattened({ field, type, place }: Member, full: string): readonly ProtoField[] {
    if (field.form.kind !== "oneof") return [];
    const inside = this.#unwrap({ type, place });
    if (inside.type.kind !== "inline") throw new Error(`cannot take ${place.path} for a oneof`);
    const { shape } = inside.type;
    return field.form.cases.flatMap((item) =>
      this.#field(this.#memberOf(shape, item, inside.place), full, oneofName(field.property)),
    );
  }

  #valueOf(form: ValueForm, { type, place, field }: Member): ProtoType {
    // Where presence says whether it is null, the message is that of what is not.
    const isWrapped = form.kind === "message" && form.message.kind === "standIn" && form.message.field === "value";
    if (isWrapped || (field.presence !== "optional" && field.presence !== "nullable")) return this.#value(type, place);
    const inside = this.#unwrap({ type, place });
    return this.#value(inside.type, inside.place);
  }

  #element(form: ValueForm, { type, place, items }: Member): ProtoType {
    const inside = this.#unwrap({ type, place });
    if (form.kind === "message" && form.message.kind === "entry") {
      return { kind: "message", name: this.#message(form.message, inside.type, inside.place) };
    }
    if (inside.type.kind === "array" || inside.type.kind === "set") {
      return this.#value(inside.type.element, items ?? below(inside.place, steps.item));
    }
    if (form.kind === "scalar") return { kind: "scalar", scalar: form.scalar };
    throw new Error(`cannot take ${place.path} for a list`);
  }

  #mapValue({ type, place }: Member): ProtoType {
    const inside = this.#unwrap({ type, place });
    if (inside.type.kind !== "map" && inside.type.kind !== "record")
      throw new Error(`cannot take ${place.path} for a map`);
    return this.#value(inside.type.value, below(inside.place, steps.value));
  }

  #place(key: string): Place {
    const place = this.#places.get(key);
    if (place === undefined) throw new Error(`cannot place ${key}: the schema does not declare it`);
    return place;
  }

  /** Of a declaration; of an instance of a generic one, a place for each list of arguments. */
  #placeOf(type: Reference, from: Place): Place {
    if (type.args.length === 0) return this.#place(type.target);
    const key = typeKey(type);
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const target = this.#index.type(type.target);
    const args = new Map(from.args);
    const names = type.args.map((arg, i) => {
      const place = below(from, { name: `Arg${i === 0 ? "" : i + 1}`, path: `<${i}>` });
      for (const inside of inlineParts(arg)) if (!args.has(typeKey(inside))) args.set(typeKey(inside), place);
      return argumentName(arg, (part) => this.#argumentName(part, args, place));
    });
    const own: Place = {
      name: `${pascalCase(target.name)}Of${names.join("And")}`,
      isClaimed: false,
      path: target.name,
      lockModule: this.#index.moduleOf(type.target).path,
      module: this.#moduleOfInstance(type, from),
      doc: target.doc,
      at: target.at,
      args,
    };
    this.#places.set(key, own);
    return own;
  }

  #argumentName(type: Type, args: ReadonlyMap<string, Place>, from: Place): string {
    switch (type.kind) {
      case "ref":
        return this.#placeOf(type, from).name;
      case "inline":
        return args.get(typeKey(type))?.name ?? from.name;
      case "mesh":
        return `${pascalCase(this.#index.actor(type.actor).name)}Mesh`;
      default:
        return pascalCase(type.kind);
    }
  }

  /** An instance stands beside what it is an instance for: the generic declaration knows nothing of that. */
  #moduleOfInstance(type: Reference, from: Place): string {
    const own = this.#index.moduleOf(type.target).path;
    const modules = type.args.flatMap((arg) => this.#modulesIn(arg, from));
    return modules.find((module) => module !== own) ?? own;
  }

  #modulesIn(type: Type, from: Place): readonly string[] {
    const inside = partsOf(type).flatMap((part) => this.#modulesIn(part, from));
    if (type.kind === "ref") return [this.#index.moduleOf(type.target).path, ...inside];
    return type.kind === "inline" ? [from.module, ...inside] : inside;
  }

  #actor(actor: ActorDeclaration, { path: module }: Module): void {
    const { name, id, doc, at, args } = actor;
    const wanted = pascalCase(name);
    const service = this.#names.claim(
      wanted.endsWith("Service") ? wanted : `${wanted}Service`,
      `the service of ${name} of ${module}`,
      at,
    );
    const full = this.#names.full(service);
    const place: Place = {
      ...{ name: wanted, isClaimed: false, path: name, lockModule: module, module, doc, at },
      args: new Map(),
    };
    this.#note(full, place);
    this.#files.add(full, "services", module);
    const methods: ProtoMethod[] = [];
    for (const endpoint of actor.endpoints) methods.push(this.#method(endpoint, service, place, methods));
    this.#services.set(full, { name: full, id, methods });
    const spawned = { ...place, path: `${name}()` };
    const fields = this.#arguments(args, spawned, `${full}.constructor`);
    const reserved = this.#tombstones.ofArguments(name, 0, module, inUseOf(fields));
    this.#constructors.set(full, { name: `${full}.constructor`, fields, ...(reserved && { reserved }) });
  }

  #method(endpoint: Endpoint, service: string, actor: Place, others: readonly ProtoMethod[]): ProtoMethod {
    const { name, id, doc, at, params, result, stream, options } = endpoint;
    const method = this.#methodName(endpoint, service, others);
    const place = { ...below(actor, memberStep(name, at)), name: actor.name + method };
    const what = `${actor.path}.${name} of ${actor.module}`;
    const request = this.#claimed(`${service}${method}Request`, `the request of ${what}`, place);
    const response = this.#claimed(`${service}${method}Response`, `the response of ${what}`, place);
    this.#note(`${this.#names.full(service)}.${method}`, { ...place, doc });
    return {
      name: method,
      id,
      // What is sent to the port of `@respond` is the answer.
      request: this.#define("request", request, (_, full) => {
        const fields = this.#arguments(options.respond ? params.slice(1) : params, place, full);
        const reserved = this.#tombstones.ofArguments(actor.path, id, actor.lockModule, inUseOf(fields));
        return { name: full, fields, ...(reserved && { reserved }) };
      }),
      response: this.#define("response", response, (_, full) => {
        if (result === undefined) return { name: full, fields: [] };
        const field: MessageField = {
          ...{ property: "result", name: "result", jsonName: "result", number: 1 },
          ...elementForm(result, false, this.#index),
        };
        const here = below(place, { name: "Result", path: "->" });
        return { name: full, fields: this.#fields([{ field, type: result, place: here }], full) };
      }),
      stream,
      ...(options.idempotent && { idempotent: true }),
    };
  }

  /** Endpoints whose names differ in capitals and underscores alone have one name in protobuf. */
  #methodName({ name, wireName, at }: Endpoint, service: string, others: readonly ProtoMethod[]): string {
    const wanted = pascalCase(wireName ?? name);
    let method = wanted;
    for (let i = 2; others.some((other) => other.name === method); i++) method = `${wanted}${i}`;
    if (method !== wanted) {
      const clash = { name: `${service}.${wanted}`, first: `endpoint before ${name}`, second: `endpoint ${name}`, at };
      this.#names.clashes.push({ kind: "type", ...clash });
    }
    return method;
  }

  #claimed(name: string, what: string, place: Place): Place {
    return { ...place, name: this.#names.claim(name, what, place.at), isClaimed: true, doc: "" };
  }

  #arguments(params: readonly Parameter[], place: Place, full: string): readonly ProtoField[] {
    const members = fieldsOfParameters(params, this.#index).map((field): Member => {
      const { name, type, at } = find(params, field);
      return { field, type, place: below(place, memberStep(name, at)) };
    });
    return this.#fields(members, full);
  }
}

function isNullable(type: Type): boolean {
  return (
    type.kind === "nullable" || (type.kind === "inline" && type.shape.kind === "alias" && isNullable(type.shape.type))
  );
}

/** Shapes written in place, at any depth but inside each other. */
function inlineParts(type: Type): readonly Type[] {
  return type.kind === "inline" ? [type] : partsOf(type).flatMap(inlineParts);
}

function find<M extends Field | Parameter>(members: readonly M[], { property }: MessageField): M {
  const found = members.find(({ name }) => name === property);
  if (found === undefined) throw new Error(`cannot find the member ${property}`);
  return found;
}

function oneofName(property: string): string {
  return snakeCase(property).replace(/[^a-z0-9_]+/g, "_");
}

function demandedOneofs(members: readonly Member[]): readonly string[] {
  return members
    .filter(({ field }) => field.form.kind === "oneof" && field.presence === "demanded")
    .map(({ field }) => oneofName(field.property));
}

function inUseOf(fields: readonly ProtoField[]): InUse {
  return { numbers: new Set(fields.map(({ number }) => number)), names: new Set(fields.map(({ name }) => name)) };
}

function mergeReserved(parts: readonly (Reserved | undefined)[]): Reserved | undefined {
  const found = parts.filter((part) => part !== undefined);
  if (found.length === 0) return undefined;
  return {
    numbers: [...new Set(found.flatMap(({ numbers }) => numbers))].sort((a, b) => a - b),
    names: [...new Set(found.flatMap(({ names }) => names))].sort(),
  };
}
