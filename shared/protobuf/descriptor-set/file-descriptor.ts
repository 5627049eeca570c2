/**
 * Writes one file as a `FileDescriptorProto`, equal to what protoc produces from the `.proto` file that the compiler
 * prints. Field numbers come from google/protobuf/descriptor.proto.
 */

import { entryName, hasAliases, rangesOf } from "../derived.js";
import { type NestedMessage, nestedTypes } from "../nested-types.js";
import type { ProtoEnum, ProtoField, ProtoMessage, ProtoScalar, ProtoSchema, ProtoService } from "../proto-schema.js";
import type { MessageWriter } from "./message-writer.js";

export interface DescribedFile {
  readonly path: string;
  readonly package: string;
  readonly imports: readonly string[];
  readonly messages: readonly string[];
  readonly enums: readonly string[];
  readonly services: readonly string[];
}

export interface FileDescriptorExtras {
  /** The comment at the top of the file. Absent if the file has none. */
  readonly header?: string;
  readonly options?: (w: MessageWriter) => void;
}

export function writeFileDescriptor(
  w: MessageWriter,
  file: DescribedFile,
  schema: ProtoSchema,
  extras: FileDescriptorExtras,
): void {
  const short = (name: string): string => (file.package === "" ? name : name.slice(file.package.length + 1));
  w.string(1, file.path);
  w.string(2, file.package);
  for (const path of file.imports) w.string(3, path);
  const { messages, enums } = nestedTypes(file);
  for (const message of messages) w.message(4, (inner) => writeMessage(inner, message, schema));
  for (const { name, simple } of enums) {
    w.message(5, (inner) => writeEnum(inner, schema.enums.get(name) as ProtoEnum, simple));
  }
  for (const name of file.services) {
    w.message(6, (inner) => writeService(inner, schema.services.get(name) as ProtoService, short(name)));
  }
  const { header, options } = extras;
  if (options !== undefined) w.message(8, options);
  if (header !== undefined) w.message(9, (inner) => writeHeader(inner, header));
  w.string(12, "proto3");
}

/** Writes the comment above the statement `syntax = "proto3";`, which is on line 3 of the file. */
function writeHeader(w: MessageWriter, header: string): void {
  w.message(1, (location) => {
    location.packed(1, [12]);
    location.packed(2, [2, 0, 'syntax = "proto3";'.length]);
    location.string(6, ` ${header}\n`);
  });
}

const scalarTypes: Readonly<Record<ProtoScalar, number>> = {
  double: 1,
  float: 2,
  int64: 3,
  uint64: 4,
  int32: 5,
  fixed64: 6,
  fixed32: 7,
  bool: 8,
  string: 9,
  bytes: 12,
  uint32: 13,
  sfixed32: 15,
  sfixed64: 16,
  sint32: 17,
  sint64: 18,
};
const messageType = 11;
const enumType = 14;
const optionalLabel = 1;
const repeatedLabel = 3;

function writeMessage(w: MessageWriter, { name, simple, messages, enums }: NestedMessage, schema: ProtoSchema): void {
  const { fields, reserved }: Omit<ProtoMessage, "name"> = schema.messages.get(name) ?? { fields: [] };
  const oneofs = [...new Set(fields.flatMap(({ oneof }) => oneof ?? []))];
  const isOptional = ({ cardinality, type, oneof }: ProtoField): boolean =>
    cardinality === "explicit" && type.kind !== "message" && oneof === undefined;
  const taken = new Set([...fields.map((field) => field.name), ...oneofs]);
  // protobuf describes an `optional` field to older tools as a oneof with one case.
  const synthetic = new Map(fields.filter(isOptional).map((field, i) => [field.name, oneofs.length + i]));
  w.string(1, simple);
  for (const field of printedOrder(fields)) {
    const index = field.oneof === undefined ? synthetic.get(field.name) : oneofs.indexOf(field.oneof);
    w.message(2, (inner) => writeField(inner, field, name, index, isOptional(field)));
  }
  for (const field of fields) if (field.cardinality === "map") w.message(3, (inner) => writeEntry(inner, field));
  for (const message of messages) w.message(3, (inner) => writeMessage(inner, message, schema));
  for (const item of enums) {
    w.message(4, (inner) => writeEnum(inner, schema.enums.get(item.name) as ProtoEnum, item.simple));
  }
  for (const oneof of oneofs) w.message(8, (inner) => inner.string(1, oneof));
  for (const field of synthetic.keys()) w.message(8, (inner) => inner.string(1, syntheticName(field, taken)));
  // In a message, the end of a range is exclusive; in an enum it is inclusive.
  for (const [first, last] of rangesOf(reserved?.numbers ?? []))
    w.message(9, (inner) => writeRange(inner, first, last + 1));
  for (const text of reserved?.names ?? []) w.string(10, text);
}

/** Moves the cases of each oneof together, to the position of its first case. */
function printedOrder(fields: readonly ProtoField[]): readonly ProtoField[] {
  return fields.flatMap((field, i) => {
    if (field.oneof === undefined) return [field];
    const cases = fields.filter(({ oneof }) => oneof === field.oneof);
    return fields.indexOf(cases[0] as ProtoField) === i ? cases : [];
  });
}

function syntheticName(field: string, taken: Set<string>): string {
  let name = field.startsWith("_") ? field : `_${field}`;
  while (taken.has(name)) name = `X${name}`;
  taken.add(name);
  return name;
}

function writeField(
  w: MessageWriter,
  { name, jsonName, number, cardinality, type, packed }: ProtoField,
  owner: string,
  oneof: number | undefined,
  isOptional: boolean,
): void {
  w.string(1, name);
  w.int(3, number);
  w.int(4, cardinality === "repeated" || cardinality === "map" ? repeatedLabel : optionalLabel);
  if (cardinality === "map") {
    w.int(5, messageType);
    w.string(6, `.${owner}.${entryName(name)}`);
  } else writeType(w, type);
  if (packed === false) w.message(8, (options) => options.int(2, 0));
  w.int(9, oneof);
  w.string(10, jsonName);
  w.bool(17, isOptional);
}

function writeType(w: MessageWriter, type: ProtoField["type"]): void {
  if (type.kind === "scalar") w.int(5, scalarTypes[type.scalar]);
  else {
    w.int(5, type.kind === "message" ? messageType : enumType);
    w.string(6, `.${type.name}`);
  }
}

function writeEntry(w: MessageWriter, { name, key, type }: ProtoField): void {
  const plain = { cardinality: "implicit" } as const;
  w.string(1, entryName(name));
  const keyType = { kind: "scalar", scalar: key as ProtoScalar } as const;
  w.message(2, (inner) =>
    writeField(inner, { ...plain, name: "key", jsonName: "key", number: 1, type: keyType }, "", undefined, false),
  );
  w.message(2, (inner) =>
    writeField(inner, { ...plain, name: "value", jsonName: "value", number: 2, type }, "", undefined, false),
  );
  // The option `map_entry`.
  w.message(7, (inner) => inner.bool(7, true));
}

function writeEnum(w: MessageWriter, { values, reserved }: ProtoEnum, short: string): void {
  w.string(1, short);
  for (const value of values) {
    w.message(2, (inner) => {
      inner.string(1, value.name);
      inner.int(2, value.number);
    });
  }
  // The option `allow_alias`.
  if (hasAliases(values)) w.message(3, (inner) => inner.bool(2, true));
  for (const [first, last] of rangesOf(reserved?.numbers ?? []))
    w.message(4, (inner) => writeRange(inner, first, last));
  for (const text of reserved?.names ?? []) w.string(5, text);
}

function writeRange(w: MessageWriter, first: number, last: number): void {
  w.int(1, first);
  w.int(2, last);
}

const idempotent = 2;

function writeService(w: MessageWriter, { methods }: ProtoService, short: string): void {
  w.string(1, short);
  for (const method of methods) {
    w.message(2, (inner) => {
      inner.string(1, method.name);
      inner.string(2, `.${method.request}`);
      inner.string(3, `.${method.response}`);
      // The option `idempotency_level`. protoc writes the options of a method that has a block even if they are empty.
      if (method.idempotent) inner.message(4, (options) => options.int(34, idempotent));
      inner.bool(6, method.stream);
    });
  }
}
