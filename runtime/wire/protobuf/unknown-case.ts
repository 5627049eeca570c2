/**
 * Writes and reads oneofs and unions whose case the schema does not have, for generated code. They are decoded as
 * `{ case: "$unknown", value: undefined }` and `{ kind: "$unknown" }`; their bytes are under `unknownFields`.
 */
import { unknownCase } from "./choices.js";
import { appendBytes } from "./growing-array.js";
import type { ProtobufReader } from "./reader.js";
import { unknownFields, type WithUnknownFields, withUnknown } from "./unknown-fields.js";
import type { ProtobufWriter } from "./writer.js";

/**
 * Writes a oneof or union whose case the schema does not have. Refuses other values.
 *
 * @param name of the property that tells cases apart
 */
export function writeUnknownVariant(w: ProtobufWriter, name: string, value: object): void {
  const fields = (value as WithUnknownFields)[unknownFields];
  if ((value as Readonly<Record<string, unknown>>)[name] !== unknownCase || fields === undefined) w.refuse();
  w.unknown(fields);
}

/**
 * Refuses a value that is not a case of a oneof. The message that contains the oneof has kept the fields of an unknown
 * case.
 */
export function checkUnknownCase(w: ProtobufWriter, value: { readonly case: unknown }): void {
  w.requireObject(value);
  if (value.case !== unknownCase) w.refuse();
}

/**
 * Reads a oneof without a known case: one of the unknown fields of the message is the case. Refuses a message without
 * unknown fields.
 */
export function readUnknownCase(r: ProtobufReader, fields: Uint8Array | undefined): never {
  if (fields === undefined) r.refuse();
  return { case: unknownCase, value: undefined } as never;
}

/**
 * Reads a union without a known variant.
 *
 * @param discriminant the property that tells the variants apart
 * @param into the value read before
 * @param fields the unknown fields of the message
 */
export function readUnknownVariant<T extends object>(
  r: ProtobufReader,
  discriminant: string,
  into: T | undefined,
  fields: Uint8Array | undefined,
): T {
  let all = fields;
  if (into !== undefined) {
    if ((into as Readonly<Record<string, unknown>>)[discriminant] !== unknownCase) return into;
    const before = (into as WithUnknownFields)[unknownFields];
    all = fields === undefined ? before : appendBytes(before, fields, 0, fields.length);
  }
  if (all === undefined) r.refuse();
  return withUnknown({ [discriminant]: unknownCase } as T, all);
}
