/** Values of one kind among several: enumerations by their number, unions and oneofs by their variant's. */
import type { Codec } from "../codec.js";
import type { Reader } from "../reader.js";
import { show } from "../refused.js";
import type { Writer } from "../writer.js";
import { ComposedCodec, hex } from "./base.js";
import { fieldText, property } from "./object.js";
import { invalid, readPart, writePart } from "./part.js";

/** Which one of `count`: a byte, or two from 257 on. */
class Index {
  readonly slot: number;
  readonly #count: number;

  constructor(count: number) {
    this.slot = count <= 256 ? 1 : 2;
    this.#count = count;
  }

  write(w: Writer, at: number, index: number): void {
    if (this.slot === 1) w.view.setUint8(at, index);
    else w.view.setUint16(at, index, true);
  }

  read(r: Reader, at: number, type: string): number {
    const index = this.slot === 1 ? r.view.getUint8(at) : r.view.getUint16(at, true);
    if (index >= this.#count) throw invalid(type, `a number below ${this.#count}`, index);
    return index;
  }
}

export class EnumCodec<T extends string | number> extends ComposedCodec<T> {
  readonly name: string;
  readonly #values: readonly T[];
  readonly #numbers: ReadonlyMap<T, number>;
  readonly #index: Index;

  constructor(name: string, values: readonly T[]) {
    super();
    this.name = name;
    this.#values = values;
    this.#numbers = new Map(values.map((value, i) => [value, i]));
    this.#index = new Index(values.length);
  }

  get slot(): number {
    return this.#index.slot;
  }

  parts(): readonly Codec<unknown>[] {
    return [];
  }

  protected canonical(): string {
    return `enum ${this.name}{${this.#values.map((value) => JSON.stringify(value)).join(",")}}`;
  }

  write(w: Writer, at: number, value: T): void {
    const number = this.#numbers.get(value);
    if (number === undefined) throw invalid(this.name || "enum", oneOf(this.#values), value);
    this.#index.write(w, at, number);
  }

  read(r: Reader, at: number): T {
    return this.#values[this.#index.read(r, at, this.name || "enum")] as T;
  }
}

/** Numbers from 0 on without gaps, which are their own numbers. */
export class RangeCodec<T extends number> extends ComposedCodec<T> {
  readonly name: string;
  readonly slot = 1;
  readonly #last: number;

  /** @param last number, at most 255 */
  constructor(name: string, last: number) {
    super();
    this.name = name;
    this.#last = last;
  }

  parts(): readonly Codec<unknown>[] {
    return [];
  }

  protected canonical(): string {
    return `enum ${this.name}{${Array.from({ length: this.#last + 1 }, (_, i) => i).join(",")}}`;
  }

  write(w: Writer, at: number, value: T): void {
    if (value !== value >>> 0 || value > this.#last) {
      throw invalid(this.name || "enum", `an integer from 0 to ${this.#last}`, value);
    }
    w.view.setUint8(at, value);
  }

  read(r: Reader, at: number): T {
    const value = r.view.getUint8(at);
    if (value > this.#last) throw invalid(this.name || "enum", `a number up to ${this.#last}`, value);
    return value as T;
  }
}

/** Objects told apart by the value of one property, which the codecs of the variants may leave out. */
export class UnionCodec<T extends object> extends ComposedCodec<T> {
  readonly name: string;
  readonly #discriminant: string;
  readonly #variants: () => Readonly<Record<string, Codec<unknown>>>;
  #resolved: readonly [string, Codec<unknown>][] | undefined;

  constructor(name: string, discriminant: string, variants: () => Readonly<Record<string, Codec<unknown>>>) {
    super();
    this.name = name;
    this.#discriminant = discriminant;
    this.#variants = variants;
  }

  get slot(): number {
    return new Index(this.#entries().length).slot;
  }

  parts(): readonly Codec<unknown>[] {
    return this.#entries().map(([, codec]) => codec);
  }

  protected canonical(): string {
    const variants = this.#entries().map(([tag, codec]) => `${JSON.stringify(tag)}:${hex(codec)}`);
    return `union ${this.name}(${this.#discriminant}){${variants.join(",")}}`;
  }

  write(w: Writer, at: number, value: T): void {
    if (typeof value !== "object" || value === null) throw invalid(this.name || "union", "an object", value);
    const entries = this.#entries();
    const tag = property(value, this.#discriminant);
    const number = entries.findIndex(([name]) => name === tag);
    const variant = entries[number];
    if (variant === undefined) {
      const expected = `${this.#discriminant} to be ${oneOf(entries.map(([name]) => name))}`;
      throw invalid(this.name || "union", expected, tag);
    }
    new Index(entries.length).write(w, at, number);
    writePart(w, variant[1], w.reserve(variant[1].slot), value, { text: "" });
  }

  read(r: Reader, at: number): T {
    const entries = this.#entries();
    const [tag, codec] = entries[new Index(entries.length).read(r, at, this.name || "union")] as [
      string,
      Codec<unknown>,
    ];
    const value = readPart(r, codec, r.take(codec.slot), { text: "" }) as object;
    return { [this.#discriminant]: tag, ...value } as T;
  }

  #entries(): readonly [string, Codec<unknown>][] {
    this.#resolved ??= Object.entries(this.#variants());
    return this.#resolved;
  }
}

/** `{ case, value }`. */
export class OneofCodec<T extends { readonly case: string; readonly value: unknown }> extends ComposedCodec<T> {
  readonly name: string;
  readonly #cases: () => Readonly<Record<string, Codec<unknown>>>;
  #resolved: readonly [string, Codec<unknown>][] | undefined;

  constructor(name: string, cases: () => Readonly<Record<string, Codec<unknown>>>) {
    super();
    this.name = name;
    this.#cases = cases;
  }

  get slot(): number {
    return new Index(this.#entries().length).slot;
  }

  parts(): readonly Codec<unknown>[] {
    return this.#entries().map(([, codec]) => codec);
  }

  protected canonical(): string {
    return `oneof ${this.name}{${this.#entries()
      .map(([name, codec]) => fieldText(name, codec))
      .join(",")}}`;
  }

  write(w: Writer, at: number, value: T): void {
    if (typeof value !== "object" || value === null) throw invalid(this.name || "oneof", "an object", value);
    const entries = this.#entries();
    const number = entries.findIndex(([name]) => name === value.case);
    const codec = entries[number]?.[1];
    if (codec === undefined) {
      throw invalid(this.name || "oneof", `case to be ${oneOf(entries.map(([name]) => name))}`, value.case);
    }
    new Index(entries.length).write(w, at, number);
    writePart(w, codec, w.reserve(codec.slot), value.value, "value");
  }

  read(r: Reader, at: number): T {
    const entries = this.#entries();
    const [name, codec] = entries[new Index(entries.length).read(r, at, this.name || "oneof")] as [
      string,
      Codec<unknown>,
    ];
    return { case: name, value: readPart(r, codec, r.take(codec.slot), "value") } as T;
  }

  #entries(): readonly [string, Codec<unknown>][] {
    this.#resolved ??= Object.entries(this.#cases());
    return this.#resolved;
  }
}

/** `"a", "b" or "c"`; of many the first ones. */
function oneOf(values: readonly unknown[]): string {
  const shown = values.slice(0, 8).map(show);
  if (values.length > 8) return `${shown.join(", ")} or one of ${values.length - 8} more`;
  return shown.length <= 1 ? shown.join("") : `${shown.slice(0, -1).join(", ")} or ${shown.at(-1)}`;
}
