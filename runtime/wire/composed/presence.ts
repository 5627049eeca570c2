/**
 * Codecs of optional and nullable values. In an object or a tuple, a bit of its row states the presence (field-row.ts).
 * Elsewhere, the slot is one byte that states whether a value is present; the value follows in the body of the message.
 */
import type { Codec } from "../codec.js";
import type { ProtoOptionalForm } from "../protobuf/proto-form.js";
import type { Reader } from "../reader.js";
import { invalidValue, readPart, writePart } from "../traced-part.js";
import type { Writer } from "../writer.js";
import { ComposedCodec, fingerprintHex } from "./composed-codec.js";

abstract class PresenceCodec<T, Absent extends null | undefined> extends ComposedCodec<T | Absent> {
  readonly inner: Codec<T>;
  readonly slot = 1;
  readonly protoForm: ProtoOptionalForm;
  readonly #absent: Absent;

  constructor(inner: Codec<T>, absent: Absent) {
    super();
    this.inner = inner;
    this.#absent = absent;
    this.protoForm = { kind: "maybe", inner: inner as Codec<unknown>, absent };
  }

  parts(): readonly Codec<unknown>[] {
    return [this.inner];
  }

  write(w: Writer, at: number, value: T | Absent): void {
    if (value === this.#absent) {
      w.view.setUint8(at, 0);
      return;
    }
    w.view.setUint8(at, 1);
    writePart(w, this.inner, w.reserve(this.inner.slot), value as T, { text: "" });
  }

  read(r: Reader, at: number): T | Absent {
    const byte = r.view.getUint8(at);
    if (byte > 1) throw invalidValue(this.name, "0 or 1", byte);
    if (byte === 0) return this.#absent;
    return readPart(r, this.inner, r.take(this.inner.slot), { text: "" });
  }
}

export class NullableCodec<T> extends PresenceCodec<T, null> {
  constructor(inner: Codec<T>) {
    super(inner, null);
  }

  get name(): string {
    return `${this.inner.name} | null`;
  }

  protected fingerprintText(): string {
    return `nullable(${fingerprintHex(this.inner)})`;
  }
}

export class OptionalCodec<T> extends PresenceCodec<T, undefined> {
  constructor(inner: Codec<T>) {
    super(inner, undefined);
  }

  get name(): string {
    return `${this.inner.name} | undefined`;
  }

  protected fingerprintText(): string {
    return `optional(${fingerprintHex(this.inner)})`;
  }
}
