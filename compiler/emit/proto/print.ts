/** Prints one `.proto` file. Its parts have the order of a file descriptor: services, messages, enums. */

import { namespaceOf } from "../../../shared/names/qualified-name.js";
import { entryName, hasAliases, rangesOf } from "../../../shared/protobuf/derived.js";
import { isHandle, jsonName } from "../../../shared/protobuf/names.js";
import { type NestedEnum, type NestedMessage, nestedTypes } from "../../../shared/protobuf/nested-types.js";
import type {
  ProtoField,
  ProtoMessage,
  ProtoMethod,
  ProtoService,
  ProtoType,
} from "../../../shared/protobuf/proto-schema.js";
import type { LoweredFile, LoweredSchema } from "../../protobuf/lower/lowered-schema.js";
import { IndentedText } from "../kit/indented-text.js";
import { lintOfEnum, lintOfField, lintOfOneof, lintOfValue } from "./lint.js";

/** @param header the first line, a comment */
export function printProto(file: LoweredFile, lowered: LoweredSchema, header: string): string {
  return new ProtoPrinter(file, lowered).print(header);
}

class ProtoPrinter {
  readonly #lines = new IndentedText("//");
  readonly #file: LoweredFile;
  readonly #lowered: LoweredSchema;
  /** The messages that contain nested types of this file. */
  readonly #scopes = new Set<string>();

  constructor(file: LoweredFile, lowered: LoweredSchema) {
    this.#file = file;
    this.#lowered = lowered;
    for (const name of [...file.messages, ...file.enums]) {
      for (let scope = namespaceOf(name); scope.length > file.package.length; scope = namespaceOf(scope))
        this.#scopes.add(scope);
    }
  }

  print(header: string): string {
    const { services } = this.#lowered.schema;
    const { messages, enums } = nestedTypes(this.#file);
    const lines = this.#lines;
    lines.comment(header);
    lines.blank();
    lines.line('syntax = "proto3";');
    lines.blank();
    lines.line(`package ${this.#file.package};`);
    lines.blank();
    for (const path of this.#file.imports) lines.line(`import "${path}";`);
    for (const name of this.#file.services) this.#service(found(services, name));
    for (const message of messages) this.#message(message);
    for (const item of enums) this.#enum(item);
    return lines.toText();
  }

  #service({ name, methods }: ProtoService): void {
    this.#lines.blank();
    this.#doc(name);
    this.#lines.block(`service ${this.#short(name)}`, () => {
      for (const method of methods) this.#method(name, method);
    });
  }

  #method(service: string, { name, request, response, stream, idempotent }: ProtoMethod): void {
    const lines = this.#lines;
    this.#separated(`${service}.${name}`);
    const returns = `${stream ? "stream " : ""}${this.#reference(response)}`;
    const head = `rpc ${name}(${this.#reference(request)}) returns (${returns})`;
    if (idempotent) lines.block(head, () => lines.line("option idempotency_level = IDEMPOTENT;"));
    else lines.line(`${head};`);
  }

  #message({ name, simple, messages, enums }: NestedMessage): void {
    // A namespace without a type of the same name is a message without fields.
    const message: ProtoMessage = this.#lowered.schema.messages.get(name) ?? { name, fields: [] };
    const { fields, reserved } = message;
    this.#lines.blank();
    this.#doc(name);
    this.#lines.block(`message ${simple}`, () => {
      this.#reserved(reserved);
      const printed = new Set<string>();
      for (const field of fields) {
        if (field.oneof === undefined) this.#field(message, field);
        else if (!printed.has(field.oneof)) {
          printed.add(field.oneof);
          this.#oneof(message, field.oneof);
        }
      }
      for (const inner of messages) this.#message(inner);
      for (const inner of enums) this.#enum(inner);
    });
  }

  #oneof(message: ProtoMessage, name: string): void {
    this.#lines.comment(lintOfOneof(name));
    this.#lines.block(`oneof ${name}`, () => {
      for (const field of message.fields) if (field.oneof === name) this.#field(message, field);
    });
  }

  #field(message: ProtoMessage, field: ProtoField): void {
    this.#separated(`${message.name}.${field.name}`);
    this.#lines.comment(lintOfField(field.name));
    const { name, number, jsonName: json } = field;
    const options = [
      ...(field.packed === false ? ["packed = false"] : []),
      ...(json === jsonName(name) ? [] : [`json_name = ${stringOf(json)}`]),
    ];
    const list = options.length === 0 ? "" : ` [${options.join(", ")}]`;
    this.#lines.line(`${this.#typeOf(message, field)} ${name} = ${number}${list};`);
  }

  #typeOf(message: ProtoMessage, { cardinality, type, key, oneof }: ProtoField): string {
    const text = this.#type(type, message);
    switch (cardinality) {
      case "repeated":
        return `repeated ${text}`;
      case "map":
        return `map<${key}, ${text}>`;
      case "explicit":
        return type.kind === "message" || oneof !== undefined ? text : `optional ${text}`;
      case "implicit":
        return text;
    }
  }

  #type(type: ProtoType, message: ProtoMessage): string {
    return type.kind === "scalar" ? type.scalar : this.#reference(type.name, message);
  }

  /**
   * Returns the shortest form of a name with the same meaning. Protobuf looks names up from the innermost scope
   * outwards.
   */
  #reference(name: string, message?: ProtoMessage): string {
    const { messages, enums } = this.#lowered.schema;
    const isDeclared = (messages.has(name) || enums.has(name)) && name.startsWith(`${this.#file.package}.`);
    if (isDeclared && isHandle(name) === isHandle(`${this.#file.package}.`))
      return this.#shortest(name, message) ?? `.${name}`;
    const [first] = name.split(".");
    const [, ...others] = this.#file.package.split(".");
    return others.includes(first as string) ? `.${name}` : name;
  }

  /** Returns undefined if another type in `message`, or in a scope around it, hides the name. */
  #shortest(name: string, message: ProtoMessage | undefined): string | undefined {
    const scopes: string[] = [];
    const { package: packageName } = this.#file;
    for (let scope = message?.name ?? packageName; scope.length > packageName.length; scope = namespaceOf(scope))
      scopes.push(scope);
    const start = scopes.findIndex((scope) => name.startsWith(`${scope}.`));
    const from = scopes[start] ?? packageName;
    const short = name.slice(from.length + 1);
    const [first = ""] = short.split(".");
    const hiding = start < 0 ? scopes : scopes.slice(0, start);
    return hiding.some((scope) => this.#declares(scope, first)) ? undefined : short;
  }

  /** Returns whether a message contains a type of this name. */
  #declares(scope: string, simple: string): boolean {
    const { messages, enums } = this.#lowered.schema;
    const own = messages.get(scope);
    const name = `${scope}.${simple}`;
    // A message that only contains types is not in the schema.
    if (messages.has(name) || enums.has(name) || this.#scopes.has(name)) return true;
    return own !== undefined && hasEntry(own, simple);
  }

  #enum({ name, simple }: NestedEnum): void {
    const { values, reserved } = found(this.#lowered.schema.enums, name);
    const lines = this.#lines;
    lines.blank();
    this.#doc(name);
    lines.comment(lintOfEnum(values));
    lines.block(`enum ${simple}`, () => {
      if (hasAliases(values)) lines.line("option allow_alias = true;");
      this.#reserved(reserved);
      for (const value of values) {
        this.#separated(`${name}.${value.name}`);
        lines.comment(lintOfValue(simple, value));
        lines.line(`${value.name} = ${value.number};`);
      }
    });
  }

  #reserved(reserved: ProtoMessage["reserved"]): void {
    if (reserved === undefined) return;
    if (reserved.numbers.length > 0)
      this.#lines.line(`reserved ${rangesOf(reserved.numbers).map(rangeText).join(", ")};`);
    if (reserved.names.length > 0) this.#lines.line(`reserved ${reserved.names.map(stringOf).join(", ")};`);
  }

  #doc(name: string): void {
    this.#lines.comment(this.#lowered.origins.get(name)?.doc ?? "");
  }

  /** Writes an empty line before a member that has documentation. */
  #separated(name: string): void {
    if ((this.#lowered.origins.get(name)?.doc ?? "") !== "") this.#lines.blank();
    this.#doc(name);
  }

  #short(name: string): string {
    return name.slice(this.#file.package.length + 1);
  }
}

function rangeText([first, last]: readonly [number, number]): string {
  return first === last ? `${first}` : `${first} to ${last}`;
}

/**
 * Returns whether a message has a map field with this entry type. A map field `foo` adds a message `FooEntry` to the
 * message, which hides outer types of this name.
 */
function hasEntry({ fields }: ProtoMessage, name: string): boolean {
  return fields.some((field) => field.cardinality === "map" && entryName(field.name) === name);
}

/** Prints a string of protobuf: UTF-8, with escapes for quotes and line ends. */
function stringOf(text: string): string {
  return JSON.stringify(text).replace(/\\u(00[01][0-9a-f])/g, (_, hex: string) => `\\x${hex.slice(2)}`);
}

function found<T>(map: ReadonlyMap<string, T>, name: string): T {
  const value = map.get(name);
  if (value === undefined) throw new Error(`cannot print ${name}: the schema does not have it`);
  return value;
}
