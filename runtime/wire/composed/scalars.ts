/** Codecs of scalars. Their slots have a fixed size; the text of strings is in the string heap. */
import type { ProtoScalar } from "../../../shared/protobuf/proto-schema.js";
import type { Codec } from "../codec.js";
import { dateForm } from "../json/well-known.js";
import type { ProtoForm } from "../protobuf/proto-form.js";
import type { ProtobufReader } from "../protobuf/reader.js";
import { scalarForm } from "../protobuf/scalar-forms.js";
import type { ProtobufWriter } from "../protobuf/writer.js";
import type { Reader } from "../reader.js";
import { invalidValue } from "../traced-part.js";
import type { Writer } from "../writer.js";
import { ComposedCodec } from "./composed-codec.js";

interface ScalarOptions<T> {
  readonly slot: number;
  readonly protoForm: ProtoForm<T>;
  readonly write: (w: Writer, at: number, value: T) => void;
  readonly read: (r: Reader, at: number) => T;
  readonly text?: boolean;
}

class ScalarCodec<T> extends ComposedCodec<T> {
  readonly name: string;
  readonly slot: number;
  readonly protoForm: ProtoForm<T>;
  override readonly write: (w: Writer, at: number, value: T) => void;
  override readonly read: (r: Reader, at: number) => T;
  readonly #text: boolean;

  constructor(name: string, { slot, protoForm, write, read, text = false }: ScalarOptions<T>) {
    super();
    this.name = name;
    this.slot = slot;
    this.protoForm = protoForm;
    this.write = write;
    this.read = read;
    this.#text = text;
  }

  parts(): readonly Codec<unknown>[] {
    return [];
  }

  protected fingerprintText(): string {
    return this.name;
  }

  protected override holdsItself(what: "text" | "bulk"): boolean {
    return what === "text" && this.#text;
  }
}

function checkBoolean(value: boolean): void {
  if (typeof value !== "boolean") throw invalidValue("boolean", "true or false", value);
}

/** A boolean. */
export const boolean: Codec<boolean> = new ScalarCodec("boolean", {
  slot: 1,
  protoForm: scalarForm("bool", false, checkBoolean),
  write(w, at, value) {
    checkBoolean(value);
    w.view.setUint8(at, value ? 1 : 0);
  },
  read(r, at) {
    const byte = r.view.getUint8(at);
    if (byte > 1) throw invalidValue("boolean", "0 or 1", byte);
    return byte === 1;
  },
});

function checkDouble(value: number): void {
  if (typeof value !== "number") throw invalidValue("double", "a number", value);
}

/** A number: double precision. */
export const double: Codec<number> = new ScalarCodec("double", {
  slot: 8,
  protoForm: scalarForm("double", 0, checkDouble),
  write(w, at, value) {
    checkDouble(value);
    w.view.setFloat64(at, value, true);
  },
  read: (r, at) => r.view.getFloat64(at, true),
});

function checkFloat(value: number): void {
  if (typeof value !== "number") throw invalidValue("float32", "a number", value);
  if (Number.isFinite(value) && !Number.isFinite(Math.fround(value))) {
    throw invalidValue("float32", "a number up to 3.4028234663852886e+38", value);
  }
}

/** A number that is rounded to single precision. */
export const float32: Codec<number> = new ScalarCodec("float32", {
  slot: 4,
  protoForm: scalarForm("float", 0, checkFloat),
  write(w, at, value) {
    checkFloat(value);
    w.view.setFloat32(at, value, true);
  },
  read: (r, at) => r.view.getFloat32(at, true),
});

type IntegerScalar = Exclude<ProtoScalar, "double" | "float" | "bool" | "string" | "bytes">;

function signed32(name: IntegerScalar): Codec<number> {
  const check = (value: number): void => {
    if (typeof value !== "number" || value !== (value | 0)) {
      throw invalidValue(name, "an integer from -2147483648 to 2147483647", value);
    }
  };
  return new ScalarCodec<number>(name, {
    slot: 4,
    protoForm: scalarForm(name, 0, check),
    write(w, at, value) {
      check(value);
      w.view.setInt32(at, value, true);
    },
    read: (r, at) => r.view.getInt32(at, true),
  });
}

function unsigned32(name: IntegerScalar): Codec<number> {
  const check = (value: number): void => {
    if (typeof value !== "number" || value !== value >>> 0) {
      throw invalidValue(name, "an integer from 0 to 4294967295", value);
    }
  };
  return new ScalarCodec<number>(name, {
    slot: 4,
    protoForm: scalarForm(name, 0, check),
    write(w, at, value) {
      check(value);
      w.view.setUint32(at, value, true);
    },
    read: (r, at) => r.view.getUint32(at, true),
  });
}

function signed64(name: IntegerScalar): Codec<bigint> {
  const check = (value: bigint): void => {
    if (typeof value !== "bigint" || value !== BigInt.asIntN(64, value)) {
      throw invalidValue(name, "a bigint from -9223372036854775808 to 9223372036854775807", value);
    }
  };
  return new ScalarCodec<bigint>(name, {
    slot: 8,
    protoForm: scalarForm(name, 0n, check),
    write(w, at, value) {
      check(value);
      w.view.setBigInt64(at, value, true);
    },
    read: (r, at) => r.view.getBigInt64(at, true),
  });
}

function unsigned64(name: IntegerScalar): Codec<bigint> {
  const check = (value: bigint): void => {
    if (typeof value !== "bigint" || value !== BigInt.asUintN(64, value)) {
      throw invalidValue(name, "a bigint from 0 to 18446744073709551615", value);
    }
  };
  return new ScalarCodec<bigint>(name, {
    slot: 8,
    protoForm: scalarForm(name, 0n, check),
    write(w, at, value) {
      check(value);
      w.view.setBigUint64(at, value, true);
    },
    read: (r, at) => r.view.getBigUint64(at, true),
  });
}

/** An integer from -2^31 to 2^31 - 1; a varint in the protobuf layout. */
export const int32 = signed32("int32");
/** An integer from -2^31 to 2^31 - 1; a zigzag varint in the protobuf layout. */
export const sint32 = signed32("sint32");
/** An integer from -2^31 to 2^31 - 1; four bytes in the protobuf layout. */
export const sfixed32 = signed32("sfixed32");
/** An integer from 0 to 2^32 - 1; a varint in the protobuf layout. */
export const uint32 = unsigned32("uint32");
/** An integer from 0 to 2^32 - 1; four bytes in the protobuf layout. */
export const fixed32 = unsigned32("fixed32");
/** A bigint from -2^63 to 2^63 - 1; a varint in the protobuf layout. */
export const int64 = signed64("int64");
/** A bigint from -2^63 to 2^63 - 1; a zigzag varint in the protobuf layout. */
export const sint64 = signed64("sint64");
/** A bigint from -2^63 to 2^63 - 1; eight bytes in the protobuf layout. */
export const sfixed64 = signed64("sfixed64");
/** A bigint from 0 to 2^64 - 1; a varint in the protobuf layout. */
export const uint64 = unsigned64("uint64");
/** A bigint from 0 to 2^64 - 1; eight bytes in the protobuf layout. */
export const fixed64 = unsigned64("fixed64");

function checkText(value: string): void {
  if (typeof value !== "string") throw invalidValue("string", "a string", value);
  if (!value.isWellFormed()) throw invalidValue("string", "text without lone surrogates", value);
}

/** A string. */
export const string: Codec<string> = new ScalarCodec("string", {
  slot: 1,
  protoForm: scalarForm("string", "", checkText),
  text: true,
  write(w, at, value) {
    if (typeof value !== "string") throw invalidValue("string", "a string", value);
    // The first attempt checks all text of the message at once.
    if (w.tracing && !value.isWellFormed()) throw invalidValue("string", "text without lone surrogates", value);
    w.putString(at, value);
  },
  read: (r, at) => r.getString(at),
});

function checkDate(value: Date): void {
  if (!(value instanceof Date)) throw invalidValue("date", "a Date", value);
  if (Number.isNaN(value.getTime())) throw invalidValue("date", "a valid Date", "Invalid Date");
}

/** The codec of dates. In the protobuf layout, a date is the message `google.protobuf.Timestamp`. */
class DateCodec extends ScalarCodec<Date> {
  readonly jsonForm = dateForm;
  readonly protoName = "google.protobuf.Timestamp";

  override writeFields(w: ProtobufWriter, value: Date): void {
    checkDate(value);
    w.dateFields(value);
  }

  override readFields(r: ProtobufReader, end: number, into: Date | undefined): Date {
    return r.dateFields(end, into);
  }
}

/** A Date: milliseconds since 1970, in the protobuf layout a `google.protobuf.Timestamp`. */
export const date: Codec<Date> = new DateCodec("date", {
  slot: 8,
  protoForm: { kind: "message" },
  write(w, at, value) {
    checkDate(value);
    w.view.setFloat64(at, value.getTime(), true);
  },
  read(r, at) {
    const time = r.view.getFloat64(at, true);
    const date = new Date(time);
    if (date.getTime() !== time) throw invalidValue("date", "whole milliseconds from -8.64e15 to 8.64e15", time);
    return date;
  },
});
