/**
 * Oneofs and unions whose case a schema does not know, for generated code: `{ case: "$unknown", value: undefined }`, and
 * `{ kind: "$unknown" }`. All there is of them are the bytes under `unknownFields`.
 */
import { unknownCase } from "./choice.js";
import { append } from "./grow.js";
import type { ProtobufReader } from "./reader.js";
import { unknownFields, type WithUnknownFields, withUnknown } from "./unknown.js";
import type { ProtobufWriter } from "./writer.js";

/** Writes a message that is a oneof or a union of no known case; refuses what is none. @param name that tells cases apart */
export function writeUnknownVariant(w: ProtobufWriter, name: string, value: object): void {
  const fields = (value as WithUnknownFields)[unknownFields];
  if ((value as Readonly<Record<string, unknown>>)[name] !== unknownCase || fields === undefined) w.refuse();
  w.unknown(fields);
}

/** Refuses what is no known case of a oneof, unless it is an unknown one: the message it stands in has kept that. */
export function checkUnknownCase(w: ProtobufWriter, value: { readonly case: unknown }): void {
  w.requireObject(value);
  if (value.case !== unknownCase) w.refuse();
}

/** A oneof of which no known case has come: one of the unknown fields is it. Refused where there are none. */
export function readUnknownCase(r: ProtobufReader, fields: Uint8Array | undefined): never {
  if (fields === undefined) r.refuse();
  return { case: unknownCase, value: undefined } as never;
}

/**
 * A union of which no known variant has come this time.
 * @param into what came before
 * @param fields that were not known
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
    all = fields === undefined ? before : append(before, fields, 0, fields.length);
  }
  if (all === undefined) r.refuse();
  return withUnknown({ [discriminant]: unknownCase } as T, all);
}
