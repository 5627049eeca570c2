/** The forms of scalars and typed arrays: the methods of the writer and the reader that handle them. */
import type { ProtoScalar } from "../../../shared/protobuf/proto-schema.js";
import type { TypedArray, TypedArrayConstructor } from "../typed-array.js";
import type { ProtoForm, ProtoRepeatedForm, ProtoScalarForm, WireType } from "./proto-form.js";
import type { ProtobufReader } from "./reader.js";
import type { ProtobufWriter } from "./writer.js";

/** Writes and reads packed elements: one field that contains all elements without tags. */
export interface PackedAccess {
  write(w: ProtobufWriter, tag: number, values: readonly unknown[]): void;
  /** Reads elements and appends them to `into`. */
  read(r: ProtobufReader, into: unknown[]): void;
}

interface ScalarMethods<T> {
  readonly wire: WireType;
  readonly write: (w: ProtobufWriter, tag: number, value: T) => void;
  readonly read: (r: ProtobufReader) => T;
  readonly writePacked: (w: ProtobufWriter, tag: number, values: readonly T[]) => void;
  readonly readPacked: (r: ProtobufReader, into: T[]) => void;
}

type UnpackedScalar = "string" | "bytes";
type ScalarValue<S extends ProtoScalar> = S extends "bool" ? boolean : S extends `${string}64` ? bigint : number;

const scalarMethods: { readonly [S in Exclude<ProtoScalar, UnpackedScalar>]: ScalarMethods<ScalarValue<S>> } = {
  bool: {
    wire: 0,
    write: (w, tag, value) => w.bool(tag, value),
    read: (r) => r.bool(),
    writePacked: (w, tag, values) => w.packedBool(tag, values),
    readPacked: (r, into) => r.packedBool(into),
  },
  double: {
    wire: 1,
    write: (w, tag, value) => w.double(tag, value),
    read: (r) => r.double(),
    writePacked: (w, tag, values) => w.packedDouble(tag, values),
    readPacked: (r, into) => r.packedDouble(into),
  },
  float: {
    wire: 5,
    write: (w, tag, value) => w.float(tag, value),
    read: (r) => r.float(),
    writePacked: (w, tag, values) => w.packedFloat(tag, values),
    readPacked: (r, into) => r.packedFloat(into),
  },
  int32: {
    wire: 0,
    write: (w, tag, value) => w.int32(tag, value),
    read: (r) => r.int32(),
    writePacked: (w, tag, values) => w.packedInt32(tag, values),
    readPacked: (r, into) => r.packedInt32(into),
  },
  uint32: {
    wire: 0,
    write: (w, tag, value) => w.uint32(tag, value),
    read: (r) => r.uint32(),
    writePacked: (w, tag, values) => w.packedUint32(tag, values),
    readPacked: (r, into) => r.packedUint32(into),
  },
  sint32: {
    wire: 0,
    write: (w, tag, value) => w.sint32(tag, value),
    read: (r) => r.sint32(),
    writePacked: (w, tag, values) => w.packedSint32(tag, values),
    readPacked: (r, into) => r.packedSint32(into),
  },
  fixed32: {
    wire: 5,
    write: (w, tag, value) => w.fixed32(tag, value),
    read: (r) => r.fixed32(),
    writePacked: (w, tag, values) => w.packedFixed32(tag, values),
    readPacked: (r, into) => r.packedFixed32(into),
  },
  sfixed32: {
    wire: 5,
    write: (w, tag, value) => w.sfixed32(tag, value),
    read: (r) => r.sfixed32(),
    writePacked: (w, tag, values) => w.packedSfixed32(tag, values),
    readPacked: (r, into) => r.packedSfixed32(into),
  },
  int64: {
    wire: 0,
    write: (w, tag, value) => w.int64(tag, value),
    read: (r) => r.int64(),
    writePacked: (w, tag, values) => w.packedInt64(tag, values),
    readPacked: (r, into) => r.packedInt64(into),
  },
  uint64: {
    wire: 0,
    write: (w, tag, value) => w.uint64(tag, value),
    read: (r) => r.uint64(),
    writePacked: (w, tag, values) => w.packedUint64(tag, values),
    readPacked: (r, into) => r.packedUint64(into),
  },
  sint64: {
    wire: 0,
    write: (w, tag, value) => w.sint64(tag, value),
    read: (r) => r.sint64(),
    writePacked: (w, tag, values) => w.packedSint64(tag, values),
    readPacked: (r, into) => r.packedSint64(into),
  },
  fixed64: {
    wire: 1,
    write: (w, tag, value) => w.fixed64(tag, value),
    read: (r) => r.fixed64(),
    writePacked: (w, tag, values) => w.packedFixed64(tag, values),
    readPacked: (r, into) => r.packedFixed64(into),
  },
  sfixed64: {
    wire: 1,
    write: (w, tag, value) => w.sfixed64(tag, value),
    read: (r) => r.sfixed64(),
    writePacked: (w, tag, values) => w.packedSfixed64(tag, values),
    readPacked: (r, into) => r.packedSfixed64(into),
  },
};

/** @param check throws a refusal with a reason for a value that is not of the type */
export function scalarForm<T>(
  name: Exclude<ProtoScalar, "bytes">,
  zero: NoInfer<T>,
  check: (value: T) => void,
): ProtoForm<T> {
  const text = { wire: 2 as const, write: writeText, read: readText };
  const { wire, write, read } = (name === "string" ? text : scalarMethods[name]) as unknown as ScalarMethods<T>;
  return {
    kind: "scalar",
    scalar: name,
    wire,
    // `===` would treat -0 as the default.
    isDefault: (value) => Object.is(value, zero),
    zero: () => zero,
    write(w, tag, value) {
      check(value);
      write(w, tag, value);
    },
    read,
  };
}

function writeText(w: ProtobufWriter, tag: number, value: string): void {
  w.string(tag, value);
}

function readText(r: ProtobufReader): string {
  return r.string();
}

export function bytesForm(check: (value: Uint8Array) => void): ProtoScalarForm<Uint8Array> {
  return {
    kind: "scalar",
    scalar: "bytes",
    wire: 2,
    isDefault: (value) => value instanceof Uint8Array && value.length === 0,
    zero: () => new Uint8Array(0),
    write(w, tag, value) {
      check(value);
      w.putBytes(tag, value);
    },
    read: (r) => r.getBytes(),
  };
}

/** Returns the access to packed elements, or undefined if each element has a field of its own. */
export function packedAccessOf(form: ProtoForm): PackedAccess | undefined {
  if (form.kind === "enum") {
    return {
      write(w, tag, values) {
        w.packedInt32(
          tag,
          values.map((value) => form.numberOf(value)),
        );
      },
      read(r, into) {
        for (const number of r.packedInt32()) into.push(form.valueOf(number));
      },
    };
  }
  if (form.kind !== "scalar" || form.scalar === "string" || form.scalar === "bytes") return undefined;
  const { writePacked, readPacked } = scalarMethods[form.scalar] as ScalarMethods<unknown>;
  return { write: writePacked, read: readPacked };
}

/** The scalar types of the elements of typed arrays, by the name of the constructor. */
const elementScalars: Readonly<Record<string, ProtoScalar>> = {
  Int8Array: "sint32",
  Int16Array: "sint32",
  Uint16Array: "uint32",
  Int32Array: "sfixed32",
  Uint32Array: "fixed32",
  BigInt64Array: "sfixed64",
  BigUint64Array: "fixed64",
  Float32Array: "float",
  Float64Array: "double",
};

/** Returns the form of a typed array. A Uint8ClampedArray is `bytes`. */
export function typedArrayForm<T extends TypedArray>(
  type: TypedArrayConstructor<T>,
  check: (value: T) => void,
): ProtoForm<T> {
  if (type.name === "Uint8ClampedArray") return clampedArrayForm(check as never) as unknown as ProtoForm<T>;
  const element = elementScalars[type.name] as Exclude<ProtoScalar, UnpackedScalar>;
  const { wire } = scalarMethods[element];
  const form: ProtoRepeatedForm<T> = {
    kind: "repeated",
    scalar: element,
    empty: () => new type(new ArrayBuffer(0)),
    write(w, number, value) {
      check(value);
      w.typed(number * 8 + 2, type, value);
    },
    acceptsWireType: (came) => came === 2 || came === wire,
    read: (r, came, into) => (came === 2 ? r.typed(type, into) : r.typedElement(type, into)),
  };
  return form;
}

function clampedArrayForm(check: (value: Uint8ClampedArray) => void): ProtoScalarForm<Uint8ClampedArray> {
  return {
    kind: "scalar",
    scalar: "bytes",
    wire: 2,
    isDefault: (value) => value instanceof Uint8ClampedArray && value.length === 0,
    zero: () => new Uint8ClampedArray(0),
    write(w, tag, value) {
      check(value);
      w.clamped(tag, value);
    },
    read: (r) => r.clamped(),
  };
}
