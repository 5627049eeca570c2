/** Repeated fields of arrays and sets: packed where protobuf packs, otherwise a field for each element. */
import type { Codec } from "../codec.js";
import { atSegment, type SingleField, singleFieldOf, tagOf } from "./member-field.js";
import { protoFormOf } from "./proto-form.js";
import type { ProtobufReader } from "./reader.js";
import { type PackedAccess, packedAccessOf } from "./scalar-forms.js";
import type { ProtobufWriter } from "./writer.js";

export class RepeatedField {
  readonly #codec: Codec<unknown>;
  #resolved: { readonly element: SingleField; readonly packing: PackedAccess | undefined } | undefined;

  constructor(codec: Codec<unknown>) {
    this.#codec = codec;
  }

  /** Determined on first use, since the codec of the elements may be in a module that is still being loaded. */
  get #strategy(): { readonly element: SingleField; readonly packing: PackedAccess | undefined } {
    this.#resolved ??= { element: singleFieldOf(this.#codec), packing: packedAccessOf(protoFormOf(this.#codec)) };
    return this.#resolved;
  }

  write(w: ProtobufWriter, number: number, values: readonly unknown[]): void {
    const { packing } = this.#strategy;
    if (w.tracing || packing === undefined) this.writeEach(w, number, values);
    else packing.write(w, tagOf(number, 2), values);
  }

  /** Writes one field for each element. */
  writeEach(w: ProtobufWriter, number: number, values: readonly unknown[]): void {
    const { element } = this.#strategy;
    for (let i = 0; i < values.length; i++) {
      atSegment(i, w.tracing, () => element.write(w, number, values[i]));
    }
  }

  acceptsWireType(wire: number): boolean {
    // Types that cannot be packed have wire type 2.
    return wire === 2 || wire === this.#strategy.element.wire;
  }

  /** @param before number of elements that precede those in `into` */
  read(r: ProtobufReader, wire: number, into: unknown[], before = 0): void {
    const { element, packing } = this.#strategy;
    if (wire === element.wire) atSegment(before + into.length, r.tracing, () => into.push(element.read(r, undefined)));
    else packing?.read(r, into);
  }
}
