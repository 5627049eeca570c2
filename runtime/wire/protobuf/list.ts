/** Repeated fields of arrays and sets: packed where protobuf packs, otherwise a field for each element. */
import type { Codec } from "../codec.js";
import { type Element, elementOf, tagOf, within } from "./place.js";
import { positionOf } from "./position.js";
import type { ProtobufReader } from "./reader.js";
import { type Packing, packingOf } from "./scalar.js";
import type { ProtobufWriter } from "./writer.js";

export class List {
  readonly #codec: Codec<unknown>;
  #found: { readonly element: Element; readonly packing: Packing | undefined } | undefined;

  constructor(codec: Codec<unknown>) {
    this.#codec = codec;
  }

  /** Found out on first use: the codec of elements may not be there before. */
  get #plan(): { readonly element: Element; readonly packing: Packing | undefined } {
    this.#found ??= { element: elementOf(this.#codec), packing: packingOf(positionOf(this.#codec)) };
    return this.#found;
  }

  write(w: ProtobufWriter, number: number, values: readonly unknown[]): void {
    const { packing } = this.#plan;
    if (w.tracing || packing === undefined) this.writeEach(w, number, values);
    else packing.write(w, tagOf(number, 2), values);
  }

  /** A field for each element. */
  writeEach(w: ProtobufWriter, number: number, values: readonly unknown[]): void {
    const { element } = this.#plan;
    for (let i = 0; i < values.length; i++) {
      within(i, w.tracing, () => element.write(w, number, values[i]));
    }
  }

  reads(wire: number): boolean {
    // What is not packed has wire type 2 itself.
    return wire === 2 || wire === this.#plan.element.wire;
  }

  /** @param before how many elements there are in front of those in `into` */
  read(r: ProtobufReader, wire: number, into: unknown[], before = 0): void {
    const { element, packing } = this.#plan;
    if (wire === element.wire) within(before + into.length, r.tracing, () => into.push(element.read(r, undefined)));
    else packing?.read(r, into);
  }
}
