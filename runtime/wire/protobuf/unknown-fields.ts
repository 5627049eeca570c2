/** Fields that a schema does not have. They are preserved as bytes and written after the known fields. */

/**
 * The property of a decoded message that holds the fields that its schema does not have: a Uint8Array of tags and
 * values, one field after the other. The property is enumerable, so `{ ...message }` keeps it; delete it to drop the
 * fields. `toProtobuf`, and messages between processes, write the fields behind the known ones; `encode` and JSON leave
 * them out.
 */
export const unknownFields: unique symbol = Symbol.for("viceroy.unknownFields") as never;

/** A message that can have unknown fields. */
export interface WithUnknownFields {
  /** The fields that the schema does not have, as bytes. */
  readonly [unknownFields]?: Uint8Array;
}

/** A `T` that can have unknown fields. */
export type WithUnknown<T> = T & WithUnknownFields;

/**
 * Sets the unknown fields of a message.
 *
 * @returns `value`
 * @param unknown the fields as bytes; undefined leaves the message as it is
 */
export function withUnknown<T extends object>(value: T, unknown: Uint8Array | undefined): T {
  if (unknown !== undefined) (value as { [unknownFields]?: Uint8Array })[unknownFields] = unknown;
  return value;
}
