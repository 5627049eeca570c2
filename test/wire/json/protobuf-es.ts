/** Messages of ours as protobuf-es has them, made of their description: no file, no generated code. */
import { create, createFileRegistry, type DescMessage, type FileRegistry } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  EnumDescriptorProtoSchema,
  FieldDescriptorProtoSchema,
  FieldDescriptorProto_Type as FieldType,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
  FieldDescriptorProto_Label as Label,
  OneofDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import type { ProtoField, ProtoMessage, ProtoSchema, ProtoType } from "../../../shared/protobuf/proto-schema.js";

const wellKnown = [
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
];

const scalars: Readonly<Record<string, FieldType>> = {
  double: FieldType.DOUBLE,
  float: FieldType.FLOAT,
  int32: FieldType.INT32,
  uint32: FieldType.UINT32,
  sint32: FieldType.SINT32,
  fixed32: FieldType.FIXED32,
  sfixed32: FieldType.SFIXED32,
  int64: FieldType.INT64,
  uint64: FieldType.UINT64,
  sint64: FieldType.SINT64,
  fixed64: FieldType.FIXED64,
  sfixed64: FieldType.SFIXED64,
  bool: FieldType.BOOL,
  string: FieldType.STRING,
  bytes: FieldType.BYTES,
};

export class EsSchema {
  readonly registry: FileRegistry;

  constructor({ messages, enums }: ProtoSchema) {
    const file = create(FileDescriptorProtoSchema, {
      name: "test.proto",
      package: "test",
      syntax: "proto3",
      dependency: wellKnown.map(({ proto }) => proto.name),
      messageType: [...messages.values()].map(messageProto),
      enumType: [...enums.values()].map(({ name, values }) => {
        const isAliased = new Set(values.map(({ number }) => number)).size < values.length;
        const value = values.map(({ name, number }) => ({ name: `${localName(name)}`, number }));
        return create(EnumDescriptorProtoSchema, {
          name: localName(name),
          value,
          ...(isAliased && { options: { allowAlias: true } }),
        });
      }),
    });
    const files = [...wellKnown.map(({ proto }) => proto), file];
    this.registry = createFileRegistry(create(FileDescriptorSetSchema, { file: files }));
  }

  /** @param name as the description has it */
  message(name: string): DescMessage {
    const found = this.registry.getMessage(name.startsWith("google.protobuf.") ? name : `test.${localName(name)}`);
    if (found === undefined) throw new Error(`there is no ${name}`);
    return found;
  }
}

/** Names of stand-ins are no identifiers: other characters by their numbers. */
function localName(name: string): string {
  return name.replace(/[^A-Za-z0-9_]/g, (letter) => `_${letter.charCodeAt(0)}_`);
}

function messageProto({ name, fields }: ProtoMessage): DescriptorProto {
  const nestedType: DescriptorProto[] = [];
  const oneofs = [...new Set(fields.flatMap(({ oneof }) => (oneof === undefined ? [] : [oneof])))];
  const synthetic: string[] = [];
  const field = fields.map((one) => {
    const base = { name: one.name, jsonName: one.jsonName, number: one.number };
    const repeated = one.cardinality === "repeated" || one.cardinality === "map";
    const label = repeated ? Label.REPEATED : Label.OPTIONAL;
    if (one.cardinality === "map") {
      const entry = mapEntry(one);
      nestedType.push(entry);
      const typeName = `.test.${localName(name)}.${entry.name}`;
      return create(FieldDescriptorProtoSchema, { ...base, label, type: FieldType.MESSAGE, typeName });
    }
    const isOptional = one.cardinality === "explicit" && one.oneof === undefined && one.type.kind !== "message";
    if (isOptional) synthetic.push(`_${one.name}`);
    const oneofIndex = isOptional ? oneofs.length + synthetic.length - 1 : oneofs.indexOf(one.oneof ?? "");
    return create(FieldDescriptorProtoSchema, {
      ...{ ...base, label, ...typeOf(one.type) },
      ...(oneofIndex >= 0 && { oneofIndex }),
      ...(isOptional && { proto3Optional: true }),
    });
  });
  const oneofDecl = [...oneofs, ...synthetic].map((oneof) => create(OneofDescriptorProtoSchema, { name: oneof }));
  return create(DescriptorProtoSchema, { name: localName(name), field, nestedType, oneofDecl });
}

function mapEntry({ name, key = "string", type }: ProtoField): DescriptorProto {
  const camel = name.replace(/(?:^|_+)([a-z0-9]?)/g, (_, letter: string) => letter.toUpperCase());
  const keyField = {
    name: "key",
    jsonName: "key",
    number: 1,
    label: Label.OPTIONAL,
    ...typeOf({ kind: "scalar", scalar: key }),
  };
  const valueField = { name: "value", jsonName: "value", number: 2, label: Label.OPTIONAL, ...typeOf(type) };
  return create(DescriptorProtoSchema, {
    name: `${camel}Entry`,
    field: [create(FieldDescriptorProtoSchema, keyField), create(FieldDescriptorProtoSchema, valueField)],
    options: { mapEntry: true },
  });
}

function typeOf(type: ProtoType): { type: FieldType; typeName?: string } {
  if (type.kind === "scalar") return { type: scalars[type.scalar] as FieldType };
  const typeName = type.name.startsWith("google.") ? `.${type.name}` : `.test.${localName(type.name)}`;
  return { type: type.kind === "enum" ? FieldType.ENUM : FieldType.MESSAGE, typeName };
}
