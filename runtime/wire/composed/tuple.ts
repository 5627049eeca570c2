/** The codec of tuples and of the arguments of a call, which are a tuple whose elements have names. */
import type { Codec } from "../codec.js";
import type { PathSegment } from "../codec-refusal.js";
import { FieldTable } from "../protobuf/field-table.js";
import { type MembersStructure, nameParts } from "../protobuf/message-structure.js";
import type { ProtoMessageForm } from "../protobuf/proto-form.js";
import type { ProtobufReader } from "../protobuf/reader.js";
import type { ProtobufWriter } from "../protobuf/writer.js";
import type { Reader } from "../reader.js";
import { invalidValue } from "../traced-part.js";
import type { Writer } from "../writer.js";
import { ArrayCodec } from "./array.js";
import { ComposedCodec, fingerprintHex } from "./composed-codec.js";
import { FieldRow, markedFingerprint } from "./field-row.js";
import { OptionalCodec } from "./presence.js";

export interface TupleElement {
  readonly codec: Codec<unknown>;
  readonly segment: PathSegment;
}

/** The protobuf numbers and the names of a tuple. */
export interface TupleProto {
  /** The field numbers, in the order of the elements; the rest comes last. Default: 1, 2, 3, … */
  readonly numbers?: readonly number[];
  /** The labels of the elements, or the names of the parameters, in their order. Default: `item1`, `item2`, … */
  readonly labels?: readonly string[];
  /** The field names in protobuf that are not derived from the names of the parameters. */
  readonly names?: Readonly<Record<string, string>>;
  /** The full name of the protobuf message. */
  readonly type?: string;
}

export class TupleCodec<T extends readonly unknown[]> extends ComposedCodec<T> {
  readonly name: string;
  readonly protoForm: ProtoMessageForm = { kind: "message" };
  /** @internal */
  readonly proto: TupleProto;
  #table: FieldTable | undefined;
  #structure: MembersStructure<T> | undefined;
  readonly #elements: readonly TupleElement[];
  readonly #rest: Codec<unknown> | undefined;
  #row: FieldRow | undefined;

  /** @param rest the codec of any further elements */
  constructor(name: string, elements: readonly TupleElement[], rest?: Codec<unknown>, proto: TupleProto = {}) {
    super();
    this.name = name;
    this.proto = proto;
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

  protected fingerprintText(): string {
    const elements = this.#elements.map(({ codec }) => {
      const { mark, hex } = markedFingerprint(codec);
      return hex + mark;
    });
    return `tuple(${[...elements, ...(this.#rest === undefined ? [] : [`...${fingerprintHex(this.#rest)}`])].join(",")})`;
  }

  write(w: Writer, at: number, value: T): void {
    this.#planned().write(w, at, this.#parts(value));
  }

  override writeFields(w: ProtobufWriter, value: T): void {
    this.#fields().write(w, this.#parts(value));
  }

  override readFields(r: ProtobufReader, end: number, into: T | undefined): T {
    const n = this.#elements.length;
    // The rest is appended in place: a hostile message can contain many fields with few elements each.
    const elements = (into ?? []) as unknown[];
    const values: unknown[] = elements.slice(0, n);
    this.#fields().read(r, end, values);
    for (let i = 0; i < n; i++) elements[i] = values[i];
    for (const more of (values[n] ?? []) as readonly unknown[]) elements.push(more);
    this.#shorten(elements);
    return elements as readonly unknown[] as T;
  }

  /** Returns the values of the elements, followed by the array of the rest. */
  #parts(value: T): unknown[] {
    if (!Array.isArray(value)) throw invalidValue(this.name, "an array", value);
    const n = this.#elements.length;
    if (value.length > n && this.#rest === undefined) throw invalidValue(this.name, `at most ${n} elements`, value);
    const values: unknown[] = value.slice(0, n);
    if (this.#rest !== undefined) values[n] = value.slice(n);
    return values;
  }

  read(r: Reader, at: number): T {
    return this.#assemble(this.#planned().read(r, at));
  }

  /** Removes missing optional elements from the end. */
  #shorten(elements: unknown[]): void {
    while (elements.length > 0 && elements.at(-1) === undefined && this.#isOptional(elements.length - 1))
      elements.pop();
  }

  /** @internal */
  get structure(): MembersStructure<T> {
    const { type, numbers, labels, names = {} } = this.proto;
    this.#structure ??= {
      kind: "members",
      standsFor: "tuple",
      ...(type !== undefined && { type }),
      parts: nameParts(
        this.#all().map(({ codec, segment }, i) => {
          const member = i < this.#elements.length ? (labels?.[i] ?? `item${i + 1}`) : "rest";
          const name = Object.hasOwn(names, member) ? names[member] : undefined;
          return { codec, segment, member, number: numbers?.[i] ?? i + 1, ...(name && { name }) };
        }),
      ),
      toRow: (value) => this.#parts(value),
      fromRow: (values) => this.#assemble(values),
    };
    return this.#structure;
  }

  #assemble(values: readonly unknown[]): T {
    const n = this.#elements.length;
    const rest = (values[n] ?? []) as readonly unknown[];
    const elements = [...values.slice(0, n), ...rest];
    this.#shorten(elements);
    return elements as readonly unknown[] as T;
  }

  #isOptional(index: number): boolean {
    return this.#elements[index]?.codec instanceof OptionalCodec;
  }

  #planned(): FieldRow {
    this.#row ??= new FieldRow(this.#all());
    return this.#row;
  }

  #fields(): FieldTable {
    const { numbers } = this.proto;
    this.#table ??= new FieldTable(this.#all().map((element, i) => ({ ...element, number: numbers?.[i] ?? i + 1 })));
    return this.#table;
  }

  /** Returns the elements, followed by the rest as one array. */
  #all(): readonly TupleElement[] {
    if (this.#rest === undefined) return this.#elements;
    return [...this.#elements, { codec: new ArrayCodec(this.#rest), segment: { text: "" } }];
  }
}
