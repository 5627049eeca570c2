/** Tuples, and the arguments of a call, which are a tuple whose elements have names. */
import type { Codec } from "../codec.js";
import type { Reader } from "../reader.js";
import type { Segment } from "../refused.js";
import type { Writer } from "../writer.js";
import { ArrayCodec } from "./array.js";
import { ComposedCodec, hex } from "./base.js";
import { FieldRow, markedHex } from "./fields.js";
import { invalid } from "./part.js";
import { OptionalCodec } from "./presence.js";

export interface TupleElement {
  readonly codec: Codec<unknown>;
  readonly segment: Segment;
}

export class TupleCodec<T extends readonly unknown[]> extends ComposedCodec<T> {
  readonly name: string;
  readonly #elements: readonly TupleElement[];
  readonly #rest: Codec<unknown> | undefined;
  #row: FieldRow | undefined;

  /** @param rest of the elements after those that are listed */
  constructor(name: string, elements: readonly TupleElement[], rest?: Codec<unknown>) {
    super();
    this.name = name;
    this.#elements = elements;
    this.#rest = rest;
  }

  get slot(): number {
    return this.#planned().slot;
  }

  parts(): readonly Codec<unknown>[] {
    const parts = this.#elements.map(({ codec }) => codec);
    return this.#rest === undefined ? parts : [...parts, this.#rest];
  }

  protected canonical(): string {
    const elements = this.#elements.map(({ codec }) => {
      const { mark, hex } = markedHex(codec);
      return hex + mark;
    });
    return `tuple(${[...elements, ...(this.#rest === undefined ? [] : [`...${hex(this.#rest)}`])].join(",")})`;
  }

  write(w: Writer, at: number, value: T): void {
    if (!Array.isArray(value)) throw invalid(this.name, "an array", value);
    const n = this.#elements.length;
    if (value.length > n && this.#rest === undefined) throw invalid(this.name, `at most ${n} elements`, value);
    const values: unknown[] = value.slice(0, n);
    if (this.#rest !== undefined) values[n] = value.slice(n);
    this.#planned().write(w, at, values);
  }

  read(r: Reader, at: number): T {
    const n = this.#elements.length;
    const values = this.#planned().read(r, at);
    const rest = (values[n] ?? []) as readonly unknown[];
    const elements = [...values.slice(0, n), ...rest];
    // Optional elements that are missing at the end are not there at all.
    while (elements.length > 0 && elements.at(-1) === undefined && this.#isOptional(elements.length - 1))
      elements.pop();
    return elements as readonly unknown[] as T;
  }

  #isOptional(index: number): boolean {
    return this.#elements[index]?.codec instanceof OptionalCodec;
  }

  #planned(): FieldRow {
    this.#row ??= new FieldRow(
      this.#rest === undefined
        ? this.#elements
        : [...this.#elements, { codec: new ArrayCodec(this.#rest), segment: { text: "" } }],
    );
    return this.#row;
  }
}
