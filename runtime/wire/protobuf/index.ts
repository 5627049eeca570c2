/**
 * The protobuf layout: what generated code calls.
 *
 * Writing: `w.uint32(tag, value)` and its kin, named after the protobuf type (`bool`, `double`, `float`, `int32`, …,
 * `string`; `putBytes` and `clamped` for `bytes`), write tag and value; `w.date(tag, value)` a Timestamp,
 * `w.enumeration(tag, codec, value)`, `w.message(tag, codec, value)`, or `begin(tag)`, fields, `end(start)`;
 * `w.packedDouble(tag, values)` and its kin, and `w.typed(tag, Float64Array, value)` write nothing where there are no
 * elements; `w.unknown(value[unknownFields])` comes last.
 *
 * Reading: `while (r.position < end) switch (r.tag())`, with `r.uint32()` and its kin, `getBytes`, `clamped`, `r.date(into)`,
 * `r.enumeration(codec)`, `r.message(codec, into)` or `enter()`, fields, `leave(end)`; `r.packedDouble(into)` and its kin for
 * fields of wire type 2, `r.typed(Float64Array, into)` and `r.typedElement(Float64Array, into)`; else
 * `unknown = r.unknown(tag, unknown)`, or `r.skip(tag)` where nothing is kept. `r.absent(codec)` is a message with
 * nothing in it.
 */
export { readCollection, writeCollection } from "./collection.js";
export { isEmpty } from "./is-empty.js";
export { ProtobufReader } from "./reader.js";
export { checkUnknownCase, readUnknownCase, readUnknownVariant, writeUnknownVariant } from "./unknown-case.js";
export { unknownFields, type WithUnknown, type WithUnknownFields, withUnknown } from "./unknown-fields.js";
export { ProtobufWriter } from "./writer.js";
