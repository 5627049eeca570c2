/** The well-known types of protobuf, by their names in `google.protobuf`, which `viceroy/schema` uses, too. */
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
/** The name of a well-known type. */
export type WellKnownName = (typeof wellKnownNames)[number];

/**
 * Returns whether a name is that of a well-known type.
 *
 * @param name without `google.protobuf.`
 */
export function isWellKnown(name: string): name is WellKnownName {
  return (wellKnownNames as readonly string[]).includes(name);
}
