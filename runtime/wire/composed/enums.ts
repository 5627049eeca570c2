/** Enumerations: one of some literals, written as its number. */

import { simpleName } from "../../../shared/names/qualified-name.js";
import { enumValueNames } from "../../../shared/protobuf/names.js";
import type { Codec } from "../codec.js";
import { listNames } from "../protobuf/choices.js";
import { enumForm } from "../protobuf/enum-form.js";
import type { EnumStructure } from "../protobuf/message-structure.js";
import type { ProtoEnumForm } from "../protobuf/proto-form.js";
import type { Reader } from "../reader.js";
import { invalidValue } from "../traced-part.js";
import type { Writer } from "../writer.js";
import { CaseIndex } from "./case-index.js";
import { ComposedCodec } from "./composed-codec.js";

/** What the protobuf layout and JSON need to know of an enumeration. */
export interface EnumProto {
  /**
   * Of the values, in their order; without it 1, 2, 3, … An enumeration of whole numbers has none: its values are their
   * own.
   */
  readonly numbers?: readonly number[];
  /** Names in the `.proto` of values whose name is not made of their own (`COLOR_RED`). */
  readonly names?: Readonly<Record<string, string>>;
  /** More names of values: of each its number. */
  readonly aliases?: Readonly<Record<string, number>>;
  /** The full name of the protobuf enum. */
  readonly type?: string;
}

/** The values of an enumeration as protobuf has them. */
function enumStructure(name: string, position: ProtoEnumForm<never>, proto: EnumProto): EnumStructure {
  const { names = {}, aliases = {}, type } = proto;
  const values = position.values.map(({ value, number }) => {
    const own = Object.hasOwn(names, String(value)) ? names[String(value)] : undefined;
    return { value: String(value), number, ...(own && { name: own }) };
  });
  const others = Object.entries(aliases).map(([alias, number]) => ({ value: alias, name: alias, number }));
  const simple = simpleName(type ?? (name || "value"));
  return { name, ...(type !== undefined && { type }), values: enumValueNames(simple, [...values, ...others]) };
}

export class EnumCodec<T extends string | number> extends ComposedCodec<T> {
  readonly name: string;
  readonly protoForm: ProtoEnumForm<T>;
  /** @internal */
  readonly proto: EnumProto;
  readonly #values: readonly T[];
  readonly #numbers: ReadonlyMap<T, number>;
  readonly #index: CaseIndex;
  #structure: EnumStructure | undefined;

  constructor(name: string, values: readonly T[], proto: EnumProto = {}) {
    super();
    this.name = name;
    this.proto = proto;
    this.protoForm = enumForm(name, values, proto.numbers);
    this.#values = values;
    this.#numbers = new Map(values.map((value, i) => [value, i]));
    this.#index = new CaseIndex(values.length);
  }

  get slot(): number {
    return this.#index.slot;
  }

  /** @internal */
  get enumeration(): EnumStructure {
    this.#structure ??= enumStructure(this.name, this.protoForm as ProtoEnumForm<never>, this.proto);
    return this.#structure;
  }

  parts(): readonly Codec<unknown>[] {
    return [];
  }

  protected fingerprintText(): string {
    return `enum ${simpleName(this.name)}{${this.#values.map((value) => JSON.stringify(value)).join(",")}}`;
  }

  write(w: Writer, at: number, value: T): void {
    const number = this.#numbers.get(value);
    if (number === undefined) throw invalidValue(this.name || "enum", listNames(this.#values), value);
    this.#index.write(w, at, number);
  }

  read(r: Reader, at: number): T {
    return this.#values[this.#index.read(r, at, this.name || "enum")] as T;
  }
}

/** Numbers from 0 on without gaps, which are their own numbers. */
export class RangeCodec<T extends number> extends ComposedCodec<T> {
  readonly name: string;
  readonly protoForm: ProtoEnumForm<T>;
  /** @internal */
  readonly proto: EnumProto;
  readonly slot = 1;
  readonly #last: number;
  #structure: EnumStructure | undefined;

  /** @param last number, at most 255 */
  constructor(name: string, last: number, proto: EnumProto = {}) {
    super();
    this.name = name;
    this.proto = proto;
    this.protoForm = enumForm(
      name,
      Array.from({ length: last + 1 }, (_, i) => i as T),
    );
    this.#last = last;
  }

  /** @internal */
  get enumeration(): EnumStructure {
    this.#structure ??= enumStructure(this.name, this.protoForm as ProtoEnumForm<never>, this.proto);
    return this.#structure;
  }

  parts(): readonly Codec<unknown>[] {
    return [];
  }

  protected fingerprintText(): string {
    return `enum ${simpleName(this.name)}{${Array.from({ length: this.#last + 1 }, (_, i) => i).join(",")}}`;
  }

  write(w: Writer, at: number, value: T): void {
    if (typeof value !== "number" || value !== value >>> 0 || value > this.#last) {
      throw invalidValue(this.name || "enum", `an integer from 0 to ${this.#last}`, value);
    }
    w.view.setUint8(at, value);
  }

  read(r: Reader, at: number): T {
    const value = r.view.getUint8(at);
    if (value > this.#last) throw invalidValue(this.name || "enum", `a number up to ${this.#last}`, value);
    return value as T;
  }
}
