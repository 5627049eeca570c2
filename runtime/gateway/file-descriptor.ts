/**
 * A schema as protobuf's own description of a file, one for each package: what libraries for protobuf make their
 * message types of.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  DescriptorProtoSchema,
  EnumDescriptorProtoSchema,
  FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  ServiceDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import type {
  ProtoEnum,
  ProtoField,
  ProtoMessage,
  ProtoScalar,
  ProtoSchema,
  ProtoService,
  ProtoType,
} from "../../schemas/protobuf/descriptor.js";

export type FileInit = MessageInitShape<typeof FileDescriptorProtoSchema>;
type MessageInit = MessageInitShape<typeof DescriptorProtoSchema>;
type FieldInit = MessageInitShape<typeof FieldDescriptorProtoSchema>;
type EnumInit = MessageInitShape<typeof EnumDescriptorProtoSchema>;
type ServiceInit = MessageInitShape<typeof ServiceDescriptorProtoSchema>;

/** Numbers of `google.protobuf.FieldDescriptorProto.Type`. */
const types: Readonly<Record<ProtoScalar | "message" | "enum", number>> = {
  double: 1,
  float: 2,
  int64: 3,
  uint64: 4,
  int32: 5,
  fixed64: 6,
  fixed32: 7,
  bool: 8,
  string: 9,
  message: 11,
  bytes: 12,
  uint32: 13,
  enum: 14,
  sfixed32: 15,
  sfixed64: 16,
  sint32: 17,
  sint64: 18,
};

/** Numbers of `google.protobuf.FieldDescriptorProto.Label`. */
const label = { optional: 1, repeated: 3 } as const;

/** One past the largest field number, which `reserved` ranges may name. */
const wellKnownPackage = "google.protobuf";

/** The files of a schema, by package. A package is one file, which imports the others that it refers to. */
export function fileDescriptors(schema: ProtoSchema): readonly FileInit[] {
  const names = [...schema.messages.keys(), ...schema.enums.keys(), ...schema.services.keys()];
  return [...new Set(names.map(packageOf))].sort().map((name) => fileOf(name, schema));
}

function fileOf(packageName: string, { messages, enums, services }: ProtoSchema): FileInit {
  const mine = <T extends { readonly name: string }>(all: ReadonlyMap<string, T>): T[] =>
    [...all.values()].filter(({ name }) => packageOf(name) === packageName);
  const own = mine(messages);
  const ownServices = mine(services);
  const named = [
    ...own.flatMap(({ fields }) => fields.flatMap(({ type }) => (type.kind === "scalar" ? [] : [type.name]))),
    ...ownServices.flatMap(({ methods }) => methods.flatMap(({ request, response }) => [request, response])),
  ];
  const imports = named.filter((name) => packageOf(name) !== packageName).map(fileNameOf);
  return {
    name: fileNameOfPackage(packageName),
    package: packageName,
    syntax: "proto3",
    dependency: [...new Set(imports)].sort(),
    messageType: own.map(messageOf),
    enumType: mine(enums).map(enumOf),
    service: ownServices.map(serviceOf),
  };
}

function messageOf({ name, fields, reserved }: ProtoMessage): MessageInit {
  const choices = [...new Set(fields.flatMap(({ oneof }) => (oneof === undefined ? [] : [oneof])))];
  // proto3's `optional` is a oneof of its own, behind those that the schema has.
  const optional = fields.filter((field) => hasOwnPresence(field)).map((field) => `_${field.name}`);
  const oneofs = [...choices, ...optional];
  const maps = fields.filter(({ cardinality }) => cardinality === "map");
  return {
    name: simpleName(name),
    field: fields.map((field) => fieldOf(name, field, oneofs)),
    nestedType: maps.map(entryOf),
    oneofDecl: oneofs.map((oneof) => ({ name: oneof })),
    ...(reserved && {
      reservedRange: reserved.numbers.map((number) => ({ start: number, end: number + 1 })),
      reservedName: [...reserved.names],
    }),
  };
}

function fieldOf(message: string, field: ProtoField, oneofs: readonly string[]): FieldInit {
  const { name, jsonName, number, cardinality, oneof } = field;
  const own = hasOwnPresence(field);
  const choice = own ? `_${name}` : oneof;
  return {
    name,
    jsonName,
    number,
    label: cardinality === "repeated" || cardinality === "map" ? label.repeated : label.optional,
    ...(cardinality === "map"
      ? { type: types.message, typeName: `.${message}.${entryName(field)}` }
      : typeOf(field.type)),
    ...(choice !== undefined && { oneofIndex: oneofs.indexOf(choice) }),
    ...(own && { proto3Optional: true }),
  };
}

function typeOf(type: ProtoType): Pick<FieldInit, "type" | "typeName"> {
  return type.kind === "scalar" ? { type: types[type.scalar] } : { type: types[type.kind], typeName: `.${type.name}` };
}

/** A map is a repeated message of keys and values. */
function entryOf(field: ProtoField): MessageInit {
  const part = (name: string, number: number, type: ProtoType): FieldInit => {
    return { name, jsonName: name, number, label: label.optional, ...typeOf(type) };
  };
  const key: ProtoType = { kind: "scalar", scalar: field.key ?? "string" };
  return {
    name: entryName(field),
    field: [part("key", 1, key), part("value", 2, field.type)],
    options: { mapEntry: true },
  };
}

/** As protoc names it: `prices_by_day` has `PricesByDayEntry`. */
function entryName({ name }: ProtoField): string {
  return `${name.replace(/(?:^|_+)(.)/g, (_, letter: string) => letter.toUpperCase())}Entry`;
}

/** Messages have presence anyway, and cases have that of their oneof. */
function hasOwnPresence({ cardinality, oneof, type }: ProtoField): boolean {
  return cardinality === "explicit" && oneof === undefined && type.kind !== "message";
}

function enumOf({ name, values, reserved }: ProtoEnum): EnumInit {
  const isAliased = new Set(values.map(({ number }) => number)).size < values.length;
  return {
    name: simpleName(name),
    value: values.map((value) => ({ name: value.name, number: value.number })),
    ...(isAliased && { options: { allowAlias: true } }),
    ...(reserved && {
      reservedRange: reserved.numbers.map((number) => ({ start: number, end: number })),
      reservedName: [...reserved.names],
    }),
  };
}

function serviceOf({ name, methods }: ProtoService): ServiceInit {
  return {
    name: simpleName(name),
    method: methods.map(({ name, request, response, stream }) => {
      return { name, inputType: `.${request}`, outputType: `.${response}`, serverStreaming: stream };
    }),
  };
}

function packageOf(name: string): string {
  return name.slice(0, Math.max(name.lastIndexOf("."), 0));
}

function simpleName(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

function fileNameOf(name: string): string {
  const packageName = packageOf(name);
  return packageName === wellKnownPackage ? wellKnownFile(simpleName(name)) : fileNameOfPackage(packageName);
}

function fileNameOfPackage(packageName: string): string {
  return `${packageName.replaceAll(".", "/") || "viceroy"}.proto`;
}

/** Which of protobuf's own files declares a type. */
function wellKnownFile(name: string): string {
  const file = /^(?:Struct|Value|ListValue|NullValue)$/.test(name)
    ? "struct"
    : /Value$/.test(name)
      ? "wrappers"
      : name.replace(/(?<=[a-z])([A-Z])/g, "_$1").toLowerCase();
  return `google/protobuf/${file}.proto`;
}
