/**
 * Values that may be missing. As fields they are a bit each, which the codec of the whole sees to (fields.ts); anywhere
 * else one byte says whether there is a value, whose slot then follows in what varies.
 */
import type { Codec } from "../codec.js";
import type { MaybePosition } from "../protobuf/position.js";
import type { Reader } from "../reader.js";
import type { Writer } from "../writer.js";
import { ComposedCodec, hex } from "./base.js";
import { invalid, readPart, writePart } from "./part.js";

abstract class PresenceCodec<T, Absent extends null | undefined> extends ComposedCodec<T | Absent> {
  readonly inner: Codec<T>;
  readonly slot = 1;
  readonly position: MaybePosition;
  readonly #absent: Absent;

  constructor(inner: Codec<T>, absent: Absent) {
    super();
    this.inner = inner;
    this.#absent = absent;
    this.position = { kind: "maybe", inner: inner as Codec<unknown>, absent };
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
    if (byte > 1) throw invalid(this.name, "0 or 1", byte);
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

  protected canonical(): string {
    return `nullable(${hex(this.inner)})`;
  }
}

export class OptionalCodec<T> extends PresenceCodec<T, undefined> {
  constructor(inner: Codec<T>) {
    super(inner, undefined);
  }

  get name(): string {
    return `${this.inner.name} | undefined`;
  }

  protected canonical(): string {
    return `optional(${hex(this.inner)})`;
  }
}
