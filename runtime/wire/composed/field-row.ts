/**
 * The layout of the fields of an object or the elements of a tuple. The slot starts with bits, in the order of the parts and
 * from the lowest bit up: whether an optional part is present, whether a nullable part is not null, the value of a boolean.
 * The slots of the parts that are always present follow. A part that can be missing has its slot in the body of the message.
 */
import type { Codec } from "../codec.js";
import { CodecRefusal, type PathSegment } from "../codec-refusal.js";
import type { Reader } from "../reader.js";
import { readPart, writePart } from "../traced-part.js";
import type { Writer } from "../writer.js";
import { fingerprintHex } from "./composed-codec.js";
import { NullableCodec, OptionalCodec } from "./presence.js";
import { boolean } from "./scalars.js";

export interface RowField {
  readonly codec: Codec<unknown>;
  readonly segment: PathSegment;
}

interface PlacedRowField extends RowField {
  /** The codec without `optional` and `nullable`, which bits represent. */
  readonly core: Codec<unknown>;
  /** The index of the bit, or -1 if the part has none. */
  readonly present: number;
  readonly notNull: number;
  readonly value: number;
  /** The byte offset in the row's slot, or -1 if the part is in the body of the message or only a bit. */
  readonly slot: number;
}

export class FieldRow {
  readonly slot: number;
  readonly #fields: readonly PlacedRowField[];
  readonly #bits: number;
  /** The mask of the unused bits in the last byte of bits, which must be zero. An empty row is one such byte. */
  readonly #lastBits: number;
  readonly #spare: number;

  constructor(fields: readonly RowField[]) {
    const bits = fields.reduce((sum, { codec }) => sum + presenceBitsOf(codec), 0);
    let bit = 0;
    let slot = Math.ceil(bits / 8);
    this.#fields = fields.map((field): PlacedRowField => {
      const { core, optional, nullable } = unwrapPresence(field.codec);
      const present = optional ? bit++ : -1;
      const notNull = nullable ? bit++ : -1;
      const value = core === boolean ? bit++ : -1;
      const placed = { ...field, core, present, notNull, value };
      if (optional || nullable || core === boolean) return { ...placed, slot: -1 };
      slot += core.slot;
      return { ...placed, slot: slot - core.slot };
    });
    this.#bits = bits;
    this.slot = Math.max(slot, 1);
    this.#lastBits = Math.max(Math.ceil(bits / 8), 1) - 1;
    this.#spare = bits === 0 && slot > 0 ? 0 : (0xff << (bits - this.#lastBits * 8)) & 0xff;
  }

  write(w: Writer, at: number, values: readonly unknown[]): void {
    for (let i = 0; i <= this.#lastBits; i++) w.view.setUint8(at + i, 0);
    for (const [i, field] of this.#fields.entries()) {
      const value = values[i];
      const { core, segment } = field;
      if (field.present >= 0) {
        if (value === undefined) continue;
        setBit(w, at, field.present);
      }
      if (field.notNull >= 0) {
        if (value === null) continue;
        setBit(w, at, field.notNull);
      }
      if (field.value >= 0) {
        if (typeof value !== "boolean") writePart(w, core, at, value, segment);
        if (value === true) setBit(w, at, field.value);
      } else {
        writePart(w, core, field.slot < 0 ? w.reserve(core.slot) : at + field.slot, value, segment);
      }
    }
  }

  /** Reads the parts. A missing part is undefined. */
  read(r: Reader, at: number): readonly unknown[] {
    if (r.view.getUint8(at + this.#lastBits) & this.#spare) throw new CodecRefusal("invalid padding bits");
    const bits = Array.from({ length: this.#bits }, (_, i) => getBit(r, at, i));
    return this.#fields.map((field) => {
      const absent = bits[field.present] === false;
      const missing = absent || bits[field.notNull] === false;
      if (missing) {
        if ((absent && bits[field.notNull]) || bits[field.value]) throw new CodecRefusal("invalid presence bits");
        return absent ? undefined : null;
      }
      if (field.value >= 0) return bits[field.value];
      return readPart(r, field.core, field.slot < 0 ? r.take(field.core.slot) : at + field.slot, field.segment);
    });
  }
}

function unwrapPresence(codec: Codec<unknown>): { core: Codec<unknown>; optional: boolean; nullable: boolean } {
  const optional = codec instanceof OptionalCodec;
  const inner: Codec<unknown> = optional ? codec.inner : codec;
  const nullable = inner instanceof NullableCodec;
  return { core: nullable ? inner.inner : inner, optional, nullable };
}

function presenceBitsOf(codec: Codec<unknown>): number {
  const { core, optional, nullable } = unwrapPresence(codec);
  return (optional ? 1 : 0) + (nullable ? 1 : 0) + (core === boolean ? 1 : 0);
}

function setBit(w: Writer, at: number, bit: number): void {
  const byte = at + (bit >> 3);
  w.view.setUint8(byte, w.view.getUint8(byte) | (1 << (bit & 7)));
}

function getBit(r: Reader, at: number, bit: number): boolean {
  return ((r.view.getUint8(at + (bit >> 3)) >> (bit & 7)) & 1) === 1;
}

/** Returns the parts of `name?:<fingerprint>` in a fingerprint text: the mark `?`, and the fingerprint of the codec without `optional`. */
export function markedFingerprint(codec: Codec<unknown>): { readonly mark: string; readonly hex: string } {
  return codec instanceof OptionalCodec
    ? { mark: "?", hex: fingerprintHex(codec.inner) }
    : { mark: "", hex: fingerprintHex(codec) };
}
