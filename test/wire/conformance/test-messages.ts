/**
 * The messages of protobuf's conformance suite (protobuf_test_messages.proto3) as protobuf-es knows them: a descriptor of
 * the same numbers, names and types as test/fixtures/conformance has them as a schema, made independently of it.
 */
import { create, createFileRegistry, type DescMessage } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  EnumDescriptorProtoSchema,
  type FieldDescriptorProto,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
} from "@bufbuild/protobuf/wkt";

const root = ".protobuf_test_messages.proto3";
const self = `${root}.TestAllTypesProto3`;
const scalars =
  "int32 int64 uint32 uint64 sint32 sint64 fixed32 fixed64 sfixed32 sfixed64 float double bool string bytes".split(" ");
const enums = [`${self}.NestedEnum`, `${self}.AliasedEnum`, `${root}.ForeignEnum`, ".google.protobuf.NullValue"];

/** A scalar's name, or the full name of a message or an enum, with a dot before it. */
function field(name: string, number: number, type: string, repeated = false): FieldDescriptorProto {
  const kind = enums.includes(type) ? "ENUM" : type.startsWith(".") ? "MESSAGE" : type.toUpperCase();
  const types: Readonly<Record<string, number>> = FieldDescriptorProto_Type as never;
  return create(FieldDescriptorProtoSchema, {
    name,
    // protoc works it out: the underscores go, what is behind one is a capital.
    jsonName: name.replace(/_+(.?)/g, (_, letter: string) => letter.toUpperCase()),
    number,
    type: types[kind] as FieldDescriptorProto_Type,
    label: repeated ? FieldDescriptorProto_Label.REPEATED : FieldDescriptorProto_Label.OPTIONAL,
    ...(type.startsWith(".") && { typeName: type }),
  });
}

function unpacked(name: string, number: number, type: string): FieldDescriptorProto {
  const found = field(name, number, type, true);
  found.options = { $typeName: "google.protobuf.FieldOptions", packed: false } as never;
  return found;
}

const camel = (name: string): string => name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

function mapField(
  message: DescriptorProto,
  name: string,
  number: number,
  key: string,
  value: string,
): FieldDescriptorProto {
  const entry = `${camel(name)}Entry`;
  message.nestedType.push(
    create(DescriptorProtoSchema, {
      name: entry,
      field: [field("key", 1, key), field("value", 2, value)],
      options: { mapEntry: true },
    }),
  );
  return field(name, number, `${self}.${entry}`, true);
}

function enumeration(name: string, values: Readonly<Record<string, number>>, allowAlias = false) {
  const value = Object.entries(values).map(([valueName, number]) => ({ name: valueName, number }));
  return create(EnumDescriptorProtoSchema, { name, value, ...(allowAlias && { options: { allowAlias } }) });
}

const wrappers = "Bool Int32 Int64 UInt32 UInt64 Float Double String Bytes".split(" ");
const known = (name: string) => `.google.protobuf.${name}`;
const names =
  "fieldname1 field_name2 _field_name3 field__name4_ field0name5 field_0_name6 fieldName7 FieldName8 field_Name9 Field_Name10 FIELD_NAME11 FIELD_name12 __field_name13 __Field_name14 field__name15 field__Name16 field_name17__ Field_name18__";

function testAllTypes(): DescriptorProto {
  const message = create(DescriptorProtoSchema, {
    name: "TestAllTypesProto3",
    nestedType: [
      create(DescriptorProtoSchema, {
        name: "NestedMessage",
        field: [field("a", 1, "int32"), field("corecursive", 2, self)],
      }),
    ],
    enumType: [
      enumeration("NestedEnum", { FOO: 0, BAR: 1, BAZ: 2, NEG: -1 }),
      enumeration("AliasedEnum", { ALIAS_FOO: 0, ALIAS_BAR: 1, ALIAS_BAZ: 2, MOO: 2, moo: 2, bAz: 2 }, true),
    ],
    oneofDecl: [{ name: "oneof_field" }],
  });
  const nested = `${self}.NestedMessage`;
  const foreign = `${root}.ForeignMessage`;
  const map = (name: string, number: number, key: string, value: string) => mapField(message, name, number, key, value);
  message.field = [
    ...scalars.map((type, i) => field(`optional_${type}`, 1 + i, type)),
    field("optional_nested_message", 18, nested),
    field("optional_foreign_message", 19, foreign),
    field("optional_nested_enum", 21, `${self}.NestedEnum`),
    field("optional_foreign_enum", 22, `${root}.ForeignEnum`),
    field("optional_aliased_enum", 23, `${self}.AliasedEnum`),
    field("optional_string_piece", 24, "string"),
    field("optional_cord", 25, "string"),
    field("recursive_message", 27, self),
    ...scalars.map((type, i) => field(`repeated_${type}`, 31 + i, type, true)),
    field("repeated_nested_message", 48, nested, true),
    field("repeated_foreign_message", 49, foreign, true),
    field("repeated_nested_enum", 51, `${self}.NestedEnum`, true),
    field("repeated_foreign_enum", 52, `${root}.ForeignEnum`, true),
    field("repeated_string_piece", 54, "string", true),
    field("repeated_cord", 55, "string", true),
    ...scalars.slice(0, 10).map((type, i) => map(`map_${type}_${type}`, 56 + i, type, type)),
    map("map_int32_float", 66, "int32", "float"),
    map("map_int32_double", 67, "int32", "double"),
    map("map_bool_bool", 68, "bool", "bool"),
    map("map_string_string", 69, "string", "string"),
    map("map_string_bytes", 70, "string", "bytes"),
    map("map_string_nested_message", 71, "string", nested),
    map("map_string_foreign_message", 72, "string", foreign),
    map("map_string_nested_enum", 73, "string", `${self}.NestedEnum`),
    map("map_string_foreign_enum", 74, "string", `${root}.ForeignEnum`),
    ...scalars.slice(0, 13).map((type, i) => field(`packed_${type}`, 75 + i, type, true)),
    field("packed_nested_enum", 88, `${self}.NestedEnum`, true),
    ...scalars.slice(0, 13).map((type, i) => unpacked(`unpacked_${type}`, 89 + i, type)),
    unpacked("unpacked_nested_enum", 102, `${self}.NestedEnum`),
    ...[
      field("oneof_uint32", 111, "uint32"),
      field("oneof_nested_message", 112, nested),
      field("oneof_string", 113, "string"),
      field("oneof_bytes", 114, "bytes"),
      field("oneof_bool", 115, "bool"),
      field("oneof_uint64", 116, "uint64"),
      field("oneof_float", 117, "float"),
      field("oneof_double", 118, "double"),
      field("oneof_enum", 119, `${self}.NestedEnum`),
      field("oneof_null_value", 120, known("NullValue")),
    ].map((one) => ({ ...one, oneofIndex: 0 })),
    ...wrappers.map((name, i) => field(`optional_${name.toLowerCase()}_wrapper`, 201 + i, known(`${name}Value`))),
    ...wrappers.map((name, i) => field(`repeated_${name.toLowerCase()}_wrapper`, 211 + i, known(`${name}Value`), true)),
    field("optional_duration", 301, known("Duration")),
    field("optional_timestamp", 302, known("Timestamp")),
    field("optional_field_mask", 303, known("FieldMask")),
    field("optional_struct", 304, known("Struct")),
    field("optional_any", 305, known("Any")),
    field("optional_value", 306, known("Value")),
    field("optional_null_value", 307, known("NullValue")),
    field("repeated_duration", 311, known("Duration"), true),
    field("repeated_timestamp", 312, known("Timestamp"), true),
    field("repeated_fieldmask", 313, known("FieldMask"), true),
    field("repeated_any", 315, known("Any"), true),
    field("repeated_value", 316, known("Value"), true),
    field("repeated_list_value", 317, known("ListValue"), true),
    field("repeated_struct", 324, known("Struct"), true),
    ...names.split(" ").map((name, i) => field(name, 401 + i, "int32")),
  ];
  return message;
}

/** `TestAllTypesProto3`, as protobuf-es reads and writes it. */
export function testAllTypesProto3(): DescMessage {
  const wellKnown = [
    file_google_protobuf_any,
    file_google_protobuf_duration,
    file_google_protobuf_field_mask,
    file_google_protobuf_struct,
    file_google_protobuf_timestamp,
    file_google_protobuf_wrappers,
  ].map(({ proto }) => proto);
  const file = create(FileDescriptorProtoSchema, {
    name: "test_messages_proto3.proto",
    package: root.slice(1),
    syntax: "proto3",
    dependency: wellKnown.map(({ name }) => name),
    messageType: [
      testAllTypes(),
      create(DescriptorProtoSchema, { name: "ForeignMessage", field: [field("c", 1, "int32")] }),
      create(DescriptorProtoSchema, { name: "NullHypothesisProto3" }),
    ],
    enumType: [enumeration("ForeignEnum", { FOREIGN_FOO: 0, FOREIGN_BAR: 1, FOREIGN_BAZ: 2 })],
  });
  const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: [...wellKnown, file] }));
  const found = registry.getMessage(self.slice(1));
  if (found === undefined) throw new Error(`there is no ${self}`);
  return found;
}
