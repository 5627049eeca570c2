/** Fields that a schema does not know: kept as the bytes they were, and written again behind those that it knows. */

/**
 * The property of a decoded message with the fields that its schema does not know: a Uint8Array, one field after the
 * other with its tag. It is enumerable, so that `{ ...message }` keeps them; delete it to drop them. `toProtobuf` writes
 * them behind the known fields, and messages between processes keep them. `encode` and JSON leave them out.
 */
export const unknownFields: unique symbol = Symbol.for("viceroy.unknownFields") as never;

/** A message that may have unknown fields. */
export interface WithUnknownFields {
  readonly [unknownFields]?: Uint8Array;
}

/** A `T` that may have unknown fields, as generated code reads and writes it. */
export type WithUnknown<T> = T & WithUnknownFields;

/** `value`, with `unknown` as its unknown fields where there are any. */
export function withUnknown<T extends object>(value: T, unknown: Uint8Array | undefined): T {
  if (unknown !== undefined) (value as { [unknownFields]?: Uint8Array })[unknownFields] = unknown;
  return value;
}
