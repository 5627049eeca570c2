/**
 * Codecs of values as JSON has them: `google.protobuf.Value`, and objects and arrays of such. In the lockstep layout a
 * value is a byte that says what it is, and in what varies the number, the string, the array or the object.
 */
import type { Codec } from "../codec.js";
import type { Reader } from "../reader.js";
import type { JsonValue } from "../well-known.js";
import type { Writer } from "../writer.js";
import { ArrayCodec } from "./array.js";
import { ComposedCodec } from "./base.js";
import { RecordCodec } from "./collections.js";
import { invalid, readPart, writePart } from "./part.js";
import { double, string } from "./scalars.js";

const inPlace = { text: "" };

/** The numbers of kinds are those of the fields in `google.protobuf.Value`; false and true are apart. */
const kinds = { null: 1, number: 2, string: 3, false: 4, object: 5, array: 6, true: 7 } as const;

class ValueCodec extends ComposedCodec<JsonValue> {
  readonly name = "JsonValue";
  readonly slot = 1;

  parts(): readonly Codec<unknown>[] {
    return [];
  }

  protected override holdsItself(what: "text" | "bulk"): boolean {
    return what === "text";
  }

  protected canonical(): string {
    return "google.protobuf.Value";
  }

  write(w: Writer, at: number, value: JsonValue): void {
    const kind = kindOf(value);
    w.view.setUint8(at, kinds[kind]);
    const part = partOf(kind);
    if (part === undefined) return;
    w.enter();
    writePart(w, part, w.reserve(part.slot), value, inPlace);
    w.leave();
  }

  read(r: Reader, at: number): JsonValue {
    switch (r.view.getUint8(at)) {
      case kinds.null:
        return null;
      case kinds.false:
        return false;
      case kinds.true:
        return true;
      case kinds.number:
        return this.#read(r, "number");
      case kinds.string:
        return this.#read(r, "string");
      case kinds.array:
        return this.#read(r, "array");
      case kinds.object:
        return this.#read(r, "object");
      default:
        throw invalid(this.name, "a number from 1 to 7", r.view.getUint8(at));
    }
  }

  #read(r: Reader, kind: Kind): JsonValue {
    const part = partOf(kind) as Codec<JsonValue>;
    r.enter();
    const value = readPart(r, part, r.take(part.slot), inPlace);
    r.leave();
    return value;
  }
}

type Kind = keyof typeof kinds;

/** What `value` is; refused where JSON has no word for it. */
function kindOf(value: unknown): Kind {
  if (value === null) return "null";
  switch (typeof value) {
    case "boolean":
      return value ? "true" : "false";
    case "number":
    case "string":
      return typeof value as "number" | "string";
    case "object":
      if (Array.isArray(value)) return "array";
      if (isPlain(value)) return "object";
  }
  throw invalid("JsonValue", "null, a boolean, a number, a string, an array or a plain object", value);
}

/** Objects of classes are no JSON: a `Map` would be written as an object of nothing. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

/** The codec of what varies. */
function partOf(kind: Kind): Codec<JsonValue> | undefined {
  switch (kind) {
    case "number":
      return double as Codec<JsonValue>;
    case "string":
      return string as Codec<JsonValue>;
    case "array":
      return listValue;
    case "object":
      return struct;
    default:
      return undefined;
  }
}

class StructCodec extends RecordCodec<JsonValue> {
  override get name(): string {
    return "Struct";
  }

  protected override canonical(): string {
    return "google.protobuf.Struct";
  }

  override write(w: Writer, at: number, value: Record<string, JsonValue>): void {
    if (typeof value !== "object" || value === null || Array.isArray(value) || !isPlain(value)) {
      throw invalid("Struct", "a plain object", value);
    }
    super.write(w, at, value);
  }
}

class ListValueCodec extends ArrayCodec<JsonValue> {
  override get name(): string {
    return "ListValue";
  }

  protected override canonical(): string {
    return "google.protobuf.ListValue";
  }
}

class NullValueCodec extends ComposedCodec<null> {
  readonly name = "NullValue";
  readonly slot = 1;

  parts(): readonly Codec<unknown>[] {
    return [];
  }

  protected canonical(): string {
    return "google.protobuf.NullValue";
  }

  write(w: Writer, at: number, value: null): void {
    if (value !== null) throw invalid("NullValue", "null", value);
    w.view.setUint8(at, 0);
  }

  read(r: Reader, at: number): null {
    const byte = r.view.getUint8(at);
    if (byte !== 0) throw invalid("NullValue", "0", byte);
    return null;
  }
}

export const value: Codec<JsonValue> = new ValueCodec();
export const struct: Codec<Record<string, JsonValue>> = new StructCodec(value);
export const listValue: Codec<JsonValue[]> = new ListValueCodec(value);
export const nullValue: Codec<null> = new NullValueCodec();
