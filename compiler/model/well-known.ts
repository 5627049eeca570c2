/** Well-known types of protobuf, by their names in `google.protobuf`, which are those in `viceroy/schema` too. */
export const wellKnownNames = [
  "Timestamp",
  "Duration",
  "FieldMask",
  "Empty",
  "Any",
  "Struct",
  "Value",
  "ListValue",
  "NullValue",
  "DoubleValue",
  "FloatValue",
  "Int64Value",
  "UInt64Value",
  "Int32Value",
  "UInt32Value",
  "BoolValue",
  "StringValue",
  "BytesValue",
] as const;
export type WellKnownName = (typeof wellKnownNames)[number];

export function isWellKnown(name: string): name is WellKnownName {
  return (wellKnownNames as readonly string[]).includes(name);
}
