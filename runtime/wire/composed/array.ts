/** The codec of arrays: a count, followed by the slots of the elements. An array of doubles is written as aligned doubles. */
import type { Codec } from "../codec.js";
import type { ProtoRepeatedForm } from "../protobuf/proto-form.js";
import { RepeatedField } from "../protobuf/repeated-field.js";
import type { Reader } from "../reader.js";
import { invalidValue, readPart, writePart } from "../traced-part.js";
import type { Writer } from "../writer.js";
import { ComposedCodec, fingerprintHex } from "./composed-codec.js";
import { double } from "./scalars.js";

export class ArrayCodec<T> extends ComposedCodec<T[]> {
  readonly slot = 1;
  readonly protoForm: ProtoRepeatedForm<T[]>;
  readonly #element: Codec<T>;

  constructor(element: Codec<T>) {
    super();
    this.#element = element;
    const list = new RepeatedField(element as Codec<unknown>);
    this.protoForm = {
      kind: "repeated",
      element: element as Codec<unknown>,
      empty: () => [],
      write(w, number, value) {
        if (!Array.isArray(value)) throw invalidValue("array", "an array", value);
        list.write(w, number, value);
      },
      writeEach(w, number, value) {
        if (!Array.isArray(value)) throw invalidValue("array", "an array", value);
        list.writeEach(w, number, value);
      },
      acceptsWireType: (wire) => list.acceptsWireType(wire),
      read(r, wire, into = []) {
        list.read(r, wire, into);
        return into;
      },
    };
  }

  get name(): string {
    return /[| ]/.test(this.#element.name) ? `(${this.#element.name})[]` : `${this.#element.name}[]`;
  }

  parts(): readonly Codec<unknown>[] {
    return [this.#element];
  }

  protected fingerprintText(): string {
    return `array(${fingerprintHex(this.#element)})`;
  }

  write(w: Writer, at: number, value: T[]): void {
    if (!Array.isArray(value)) throw invalidValue("array", "an array", value);
    const n = value.length;
    w.putLength(at, n);
    const element = this.#element;
    if (n > 0 && isDouble(element)) w.align();
    let slot = w.reserve(n * element.slot);
    for (let i = 0; i < n; i++) {
      writePart(w, element, slot, value[i] as T, i);
      slot += element.slot;
    }
  }

  read(r: Reader, at: number): T[] {
    const element = this.#element;
    const n = r.getLength(at);
    if (n > 0 && isDouble(element)) r.align();
    let slot = r.take(n * element.slot);
    const value = new Array<T>(n);
    for (let i = 0; i < n; i++) {
      value[i] = readPart(r, element, slot, i);
      slot += element.slot;
    }
    return value;
  }
}

function isDouble(codec: Codec<unknown>): boolean {
  return codec === double;
}
