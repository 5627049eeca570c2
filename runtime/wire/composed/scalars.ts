/** Codecs of scalars: fixed-size slots, and strings, whose text goes to the heap. */
import type { Codec } from "../codec.js";
import type { Reader } from "../reader.js";
import type { Writer } from "../writer.js";
import { ComposedCodec } from "./base.js";
import { invalid } from "./part.js";

interface ScalarOptions<T> {
  readonly slot: number;
  readonly write: (w: Writer, at: number, value: T) => void;
  readonly read: (r: Reader, at: number) => T;
  readonly text?: boolean;
}

class ScalarCodec<T> extends ComposedCodec<T> {
  readonly name: string;
  readonly slot: number;
  override readonly write: (w: Writer, at: number, value: T) => void;
  override readonly read: (r: Reader, at: number) => T;
  readonly #text: boolean;

  constructor(name: string, { slot, write, read, text = false }: ScalarOptions<T>) {
    super();
    this.name = name;
    this.slot = slot;
    this.write = write;
    this.read = read;
    this.#text = text;
  }

  parts(): readonly Codec<unknown>[] {
    return [];
  }

  protected canonical(): string {
    return this.name;
  }

  protected override holdsItself(what: "text" | "bulk"): boolean {
    return what === "text" && this.#text;
  }
}

export const boolean: Codec<boolean> = new ScalarCodec("boolean", {
  slot: 1,
  write(w, at, value) {
    if (typeof value !== "boolean") throw invalid("boolean", "true or false", value);
    w.view.setUint8(at, value ? 1 : 0);
  },
  read(r, at) {
    const byte = r.view.getUint8(at);
    if (byte > 1) throw invalid("boolean", "0 or 1", byte);
    return byte === 1;
  },
});

export const double: Codec<number> = new ScalarCodec("double", {
  slot: 8,
  write(w, at, value) {
    if (typeof value !== "number") throw invalid("double", "a number", value);
    w.view.setFloat64(at, value, true);
  },
  read: (r, at) => r.view.getFloat64(at, true),
});

export const float32: Codec<number> = new ScalarCodec("float32", {
  slot: 4,
  write(w, at, value) {
    if (typeof value !== "number") throw invalid("float32", "a number", value);
    if (Number.isFinite(value) && !Number.isFinite(Math.fround(value))) {
      throw invalid("float32", "a number up to 3.4028234663852886e+38", value);
    }
    w.view.setFloat32(at, value, true);
  },
  read: (r, at) => r.view.getFloat32(at, true),
});

function signed32(name: string): Codec<number> {
  return new ScalarCodec<number>(name, {
    slot: 4,
    write(w, at, value) {
      if (typeof value !== "number" || value !== (value | 0)) {
        throw invalid(name, "an integer from -2147483648 to 2147483647", value);
      }
      w.view.setInt32(at, value, true);
    },
    read: (r, at) => r.view.getInt32(at, true),
  });
}

function unsigned32(name: string): Codec<number> {
  return new ScalarCodec<number>(name, {
    slot: 4,
    write(w, at, value) {
      if (typeof value !== "number" || value !== value >>> 0) {
        throw invalid(name, "an integer from 0 to 4294967295", value);
      }
      w.view.setUint32(at, value, true);
    },
    read: (r, at) => r.view.getUint32(at, true),
  });
}

function signed64(name: string): Codec<bigint> {
  return new ScalarCodec<bigint>(name, {
    slot: 8,
    write(w, at, value) {
      if (typeof value !== "bigint" || value !== BigInt.asIntN(64, value)) {
        throw invalid(name, "a bigint from -9223372036854775808 to 9223372036854775807", value);
      }
      w.view.setBigInt64(at, value, true);
    },
    read: (r, at) => r.view.getBigInt64(at, true),
  });
}

function unsigned64(name: string): Codec<bigint> {
  return new ScalarCodec<bigint>(name, {
    slot: 8,
    write(w, at, value) {
      if (typeof value !== "bigint" || value !== BigInt.asUintN(64, value)) {
        throw invalid(name, "a bigint from 0 to 18446744073709551615", value);
      }
      w.view.setBigUint64(at, value, true);
    },
    read: (r, at) => r.view.getBigUint64(at, true),
  });
}

export const int32 = signed32("int32");
export const sint32 = signed32("sint32");
export const sfixed32 = signed32("sfixed32");
export const uint32 = unsigned32("uint32");
export const fixed32 = unsigned32("fixed32");
export const int64 = signed64("int64");
export const sint64 = signed64("sint64");
export const sfixed64 = signed64("sfixed64");
export const uint64 = unsigned64("uint64");
export const fixed64 = unsigned64("fixed64");

export const string: Codec<string> = new ScalarCodec("string", {
  slot: 1,
  text: true,
  write(w, at, value) {
    if (typeof value !== "string") throw invalid("string", "a string", value);
    // Otherwise asked of all text of the message together.
    if (w.tracing && !value.isWellFormed()) throw invalid("string", "text without lone surrogates", value);
    w.putString(at, value);
  },
  read: (r, at) => r.getString(at),
});

export const date: Codec<Date> = new ScalarCodec("date", {
  slot: 8,
  write(w, at, value) {
    if (!(value instanceof Date)) throw invalid("date", "a Date", value);
    if (Number.isNaN(value.getTime())) throw invalid("date", "a valid Date", "Invalid Date");
    w.view.setFloat64(at, value.getTime(), true);
  },
  read(r, at) {
    const time = r.view.getFloat64(at, true);
    const date = new Date(time);
    if (date.getTime() !== time) throw invalid("date", "whole milliseconds from -8.64e15 to 8.64e15", time);
    return date;
  },
});
