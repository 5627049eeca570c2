/** Codecs of enumerations. A value is written as its index. */

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

/** The protobuf numbers and the names of an enumeration. */
export interface EnumProto {
  /**
   * The numbers of the values, in their order. Default: 1, 2, 3, …, or the values themselves if they are whole numbers.
   */
  readonly numbers?: readonly number[];
  /** The names in protobuf that are not derived from the values (`COLOR_RED`). */
  readonly names?: Readonly<Record<string, string>>;
  /** Further names, with the numbers that they are aliases of. */
  readonly aliases?: Readonly<Record<string, number>>;
  /** The full name of the protobuf enum. */
  readonly type?: string;
}

/** Returns the names and numbers of an enumeration in protobuf. */
function enumStructure(name: string, form: ProtoEnumForm<never>, proto: EnumProto): EnumStructure {
  const { names = {}, aliases = {}, type } = proto;
  const values = form.values.map(({ value, number }) => {
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

/** The codec of an enumeration whose values are 0, 1, 2, … The index is the value. */
export class RangeCodec<T extends number> extends ComposedCodec<T> {
  readonly name: string;
  readonly protoForm: ProtoEnumForm<T>;
  /** @internal */
  readonly proto: EnumProto;
  readonly slot = 1;
  readonly #last: number;
  #structure: EnumStructure | undefined;

  /** @param last the largest value, at most 255 */
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
