/**
 * Codecs of JSON values: `google.protobuf.Value`, `Struct`, `ListValue` and `NullValue`. In the lockstep layout, the slot of a
 * value is a byte for its kind; the number, string, array or object follows in the body of the message.
 */
import type { Codec } from "../codec.js";
import type { JsonForm } from "../json/json-form.js";
import { isPlain, listForm, nullForm, structForm, valueForm } from "../json/well-known.js";
import type { ProtoEnumForm, ProtoMessageForm } from "../protobuf/proto-form.js";
import type { ProtobufReader } from "../protobuf/reader.js";
import type { ProtobufWriter } from "../protobuf/writer.js";
import type { Reader } from "../reader.js";
import { invalidValue, readPart, writePart } from "../traced-part.js";
import type { JsonValue } from "../well-known.js";
import type { Writer } from "../writer.js";
import { ArrayCodec } from "./array.js";
import { RecordCodec } from "./collections.js";
import { ComposedCodec } from "./composed-codec.js";
import { double, string } from "./scalars.js";

const inPlace = { text: "" };

/** The kinds have the field numbers of `google.protobuf.Value`, except that `true` has a number of its own. */
const kindNumbers = { null: 1, number: 2, string: 3, false: 4, object: 5, array: 6, true: 7 } as const;

/** The tags of the fields of `google.protobuf.Value`. */
const fieldTags = { null: 0x08, number: 0x11, string: 0x1a, boolean: 0x20, object: 0x2a, array: 0x32 } as const;

class ValueCodec extends ComposedCodec<JsonValue> {
  readonly name = "JsonValue";
  readonly slot = 1;
  readonly protoName = "google.protobuf.Value";
  readonly jsonForm = valueForm;
  readonly protoForm: ProtoMessageForm = { kind: "message" };

  override writeFields(w: ProtobufWriter, value: JsonValue): void {
    switch (jsonKindOf(value)) {
      case "null":
        w.int32(fieldTags.null, 0);
        return;
      case "false":
      case "true":
        w.bool(fieldTags.boolean, value as boolean);
        return;
      case "number":
        w.double(fieldTags.number, value as number);
        return;
      case "string":
        requireText(w, value as string);
        w.string(fieldTags.string, value as string);
        return;
      case "object":
        w.message(fieldTags.object, struct, value as Record<string, JsonValue>);
        return;
      case "array":
        w.message(fieldTags.array, listValue, value as JsonValue[]);
    }
  }

  override readFields(r: ProtobufReader, end: number, into: JsonValue | undefined): JsonValue {
    let value: JsonValue = into ?? null;
    while (r.position < end) {
      const tag = r.tag();
      switch (tag) {
        case fieldTags.null:
          r.int32();
          value = null;
          break;
        case fieldTags.boolean:
          value = r.bool();
          break;
        case fieldTags.number:
          value = r.double();
          break;
        case fieldTags.string:
          value = r.string();
          break;
        case fieldTags.object:
          value = r.message(struct, isObject(value) ? value : undefined);
          break;
        case fieldTags.array:
          value = r.message(listValue, Array.isArray(value) ? value : undefined);
          break;
        default:
          r.skip(tag);
      }
    }
    return value;
  }

  parts(): readonly Codec<unknown>[] {
    return [];
  }

  protected override holdsItself(what: "text" | "bulk"): boolean {
    return what === "text";
  }

  protected fingerprintText(): string {
    return "google.protobuf.Value";
  }

  write(w: Writer, at: number, value: JsonValue): void {
    const kind = jsonKindOf(value);
    w.view.setUint8(at, kindNumbers[kind]);
    const part = varyingCodecOf(kind);
    if (part === undefined) return;
    w.enter();
    writePart(w, part, w.reserve(part.slot), value, inPlace);
    w.leave();
  }

  read(r: Reader, at: number): JsonValue {
    switch (r.view.getUint8(at)) {
      case kindNumbers.null:
        return null;
      case kindNumbers.false:
        return false;
      case kindNumbers.true:
        return true;
      case kindNumbers.number:
        return this.#read(r, "number");
      case kindNumbers.string:
        return this.#read(r, "string");
      case kindNumbers.array:
        return this.#read(r, "array");
      case kindNumbers.object:
        return this.#read(r, "object");
      default:
        throw invalidValue(this.name, "a number from 1 to 7", r.view.getUint8(at));
    }
  }

  #read(r: Reader, kind: JsonKind): JsonValue {
    const part = varyingCodecOf(kind) as Codec<JsonValue>;
    r.enter();
    const value = readPart(r, part, r.take(part.slot), inPlace);
    r.leave();
    return value;
  }
}

type JsonKind = keyof typeof kindNumbers;

/** Returns the kind of a value. Refuses a value that JSON does not have. */
function jsonKindOf(value: unknown): JsonKind {
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
  throw invalidValue("JsonValue", "null, a boolean, a number, a string, an array or a plain object", value);
}

/** On the second attempt, refuses text with lone surrogates and says so. */
function requireText(w: ProtobufWriter, value: string): void {
  if (w.tracing && !value.isWellFormed()) throw invalidValue("string", "text without lone surrogates", value);
}

function isObject(value: JsonValue): value is { [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the codec of the part in the body of the message; undefined if the kind has none. */
function varyingCodecOf(kind: JsonKind): Codec<JsonValue> | undefined {
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

/** The codec of a message whose only field is a map or a list. Its bytes are those of the composed codec of the collection. */
abstract class CollectionCodec<T> extends ComposedCodec<T> {
  abstract override readonly name: string;
  abstract readonly inner: Codec<T>;
  abstract readonly jsonForm: JsonForm<T>;
  readonly protoForm: ProtoMessageForm = { kind: "message" };

  get protoName(): string {
    return `google.protobuf.${this.name}`;
  }

  get slot(): number {
    return this.inner.slot;
  }

  parts(): readonly Codec<unknown>[] {
    return [this.inner as Codec<unknown>];
  }

  protected fingerprintText(): string {
    return this.protoName;
  }

  write(w: Writer, at: number, value: T): void {
    this.inner.write(w, at, value);
  }

  read(r: Reader, at: number): T {
    return this.inner.read(r, at);
  }

  override writeFields(w: ProtobufWriter, value: T): void {
    this.inner.writeFields(w, value);
  }

  override readFields(r: ProtobufReader, end: number, into: T | undefined): T {
    return this.inner.readFields(r, end, into);
  }
}

class StructCodec extends CollectionCodec<Record<string, JsonValue>> {
  readonly name = "Struct";
  readonly inner = new RecordCodec<JsonValue>(value);
  readonly jsonForm = structForm;

  override write(w: Writer, at: number, value: Record<string, JsonValue>): void {
    requirePlain(value);
    super.write(w, at, value);
  }

  override writeFields(w: ProtobufWriter, value: Record<string, JsonValue>): void {
    requirePlain(value);
    super.writeFields(w, value);
  }
}

function requirePlain(value: unknown): void {
  if (typeof value !== "object" || value === null || Array.isArray(value) || !isPlain(value)) {
    throw invalidValue("Struct", "a plain object", value);
  }
}

class ListValueCodec extends CollectionCodec<JsonValue[]> {
  readonly name = "ListValue";
  readonly inner = new ArrayCodec<JsonValue>(value);
  readonly jsonForm = listForm;
}

class NullValueCodec extends ComposedCodec<null> {
  readonly name = "NullValue";
  readonly slot = 1;
  readonly protoName = "google.protobuf.NullValue";
  readonly jsonForm = nullForm;
  /** The form of an enum with one value. Every number is read as null. */
  readonly protoForm: ProtoEnumForm<null> = {
    kind: "enum",
    isRequired: false,
    values: [{ value: null, number: 0 }],
    numberOf(value) {
      if (value !== null) throw invalidValue("NullValue", "null", value);
      return 0;
    },
    valueOf: () => null,
  };

  parts(): readonly Codec<unknown>[] {
    return [];
  }

  protected fingerprintText(): string {
    return "google.protobuf.NullValue";
  }

  write(w: Writer, at: number, value: null): void {
    if (value !== null) throw invalidValue("NullValue", "null", value);
    w.view.setUint8(at, 0);
  }

  read(r: Reader, at: number): null {
    const byte = r.view.getUint8(at);
    if (byte !== 0) throw invalidValue("NullValue", "0", byte);
    return null;
  }
}

/** `google.protobuf.Value`: any JSON value. */
export const value: Codec<JsonValue> = new ValueCodec();
/** `google.protobuf.Struct`: a JSON object. */
export const struct: Codec<Record<string, JsonValue>> = new StructCodec();
/** `google.protobuf.ListValue`: a JSON array. */
export const listValue: Codec<JsonValue[]> = new ListValueCodec();
/** `google.protobuf.NullValue`: null. */
export const nullValue: Codec<null> = new NullValueCodec();
