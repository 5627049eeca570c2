/** Random values of the types of a schema, and how deep the smallest ones are. */
import type { Field, Shape, Type, WellKnownName } from "../../compiler/model/index.js";
import { instantiate, type SchemaIndex } from "../../compiler/model/resolve.js";

const wrapped = {
  DoubleValue: "double",
  FloatValue: "float32",
  Int64Value: "int64",
  UInt64Value: "uint64",
  Int32Value: "int32",
  UInt32Value: "uint32",
} as const;

/** Random values of the types of one schema. */
export class RandomValues {
  readonly #index: SchemaIndex;
  readonly #random: () => number;
  readonly #dates: readonly number[];

  /** @param dates in milliseconds since 1970 */
  constructor(index: SchemaIndex, random: () => number, dates = [0, -1, 8.64e15, -8.64e15, 1.7e12]) {
    this.#index = index;
    this.#random = random;
    this.#dates = dates;
  }

  /** @param depth from which on collections are empty and what may be missing is */
  value(type: Type, depth = 5): unknown {
    switch (type.kind) {
      case "scalar":
        return this.#scalar(type.scalar);
      case "typedArray":
        return this.#typedArray(type.element);
      case "array":
        return this.#list(depth, () => this.value(type.element, depth - 1));
      case "set":
        return new Set(this.#list(depth, () => this.value(type.element, depth - 1)));
      case "map":
        return new Map(this.#list(depth, () => [this.value(type.key, depth - 1), this.value(type.value, depth - 1)]));
      case "record": {
        const entries = this.#list(depth, () => [this.#string(), this.value(type.value, depth - 1)] as const);
        return Object.fromEntries(entries);
      }
      case "nullable":
        return depth <= 0 || this.#chance(0.4) ? null : this.value(type.inner, depth - 1);
      case "tuple":
        return this.#tuple(type, depth);
      case "ref":
        return this.#shape(instantiate(this.#index.type(type.target), type.args), depth - 1);
      case "inline":
        return this.#shape(type.shape, depth);
      case "wellKnown":
        return this.#wellKnown(type.name, depth);
      default:
        throw new Error(`no values of ${type.kind}`);
    }
  }

  #shape(shape: Shape, depth: number): unknown {
    switch (shape.kind) {
      case "alias":
        return this.value(shape.type, depth);
      case "enum":
        return this.#pick(shape.values).value;
      case "message":
        return Object.fromEntries(this.#fields(shape.fields, depth));
      case "oneof": {
        const one = this.#pick(this.#finite(shape.cases, depth));
        return { case: one.name, value: this.value(one.type, depth - 1) };
      }
      case "union": {
        const { tag, type } = this.#pick(this.#finite(shape.variants, depth));
        const variant = type.kind === "ref" ? instantiate(this.#index.type(type.target), type.args) : undefined;
        const message = variant ?? (type.kind === "inline" ? type.shape : undefined);
        const fields = message?.kind === "message" ? message.fields : [];
        const others = fields.filter(({ name }) => name !== shape.discriminant);
        return Object.fromEntries([[shape.discriminant, tag], ...this.#fields(others, depth - 1)]);
      }
    }
  }

  /** Returns the choices with the smallest values, which end a recursion. */
  #finite<T extends { readonly type: Type }>(choices: readonly T[], depth: number): readonly T[] {
    if (depth > 0) return choices;
    const sized = choices.map((choice) => [choice, smallest(choice.type, this.#index, [])] as const);
    const best = Math.min(...sized.map(([, size]) => size ?? Number.POSITIVE_INFINITY));
    return sized.filter(([, size]) => size === best).map(([choice]) => choice);
  }

  #fields(fields: readonly Field[], depth: number): [string, unknown][] {
    const there = fields.filter(({ optional }) => !optional || (depth > 0 && this.#chance(0.5)));
    return there.map(({ name, type }) => [name, this.value(type, depth - 1)]);
  }

  #tuple({ elements, rest }: Extract<Type, { kind: "tuple" }>, depth: number): unknown[] {
    const values = elements.map(({ type, optional }) =>
      optional && (depth <= 0 || this.#chance(0.5)) ? undefined : this.value(type, depth - 1),
    );
    const more = rest === undefined ? [] : this.#list(depth, () => this.value(rest, depth - 1));
    if (more.length > 0) return [...values, ...more];
    while (values.length > 0 && elements[values.length - 1]?.optional && values.at(-1) === undefined) values.pop();
    return values;
  }

  #scalar(scalar: Extract<Type, { kind: "scalar" }>["scalar"]): unknown {
    switch (scalar) {
      case "boolean":
        return this.#chance(0.5);
      case "string":
        return this.#string();
      case "bytes":
        return Uint8Array.from(this.#list(3, () => this.#int(0, 256)));
      case "date":
        return new Date(this.#pick(this.#dates));
      case "double":
        return this.#pick([0, -0, 1.5, Number.NaN, Number.POSITIVE_INFINITY, -1e308, 5e-324, this.#random()]);
      case "float32":
        return Math.fround(this.#pick([0, -0, 1.5, Number.NaN, Number.NEGATIVE_INFINITY, 3.4028234663852886e38]));
      default:
        return this.#integer(scalar);
    }
  }

  #integer(scalar: string): number | bigint {
    const unsigned = scalar.startsWith("u") || scalar.startsWith("fixed");
    if (!scalar.endsWith("64")) {
      return unsigned ? this.#pick([0, 1, 0xffffffff, 255]) : this.#pick([0, -1, 2 ** 31 - 1, -(2 ** 31), 7]);
    }
    return unsigned ? this.#pick([0n, 1n, 2n ** 64n - 1n]) : this.#pick([0n, -1n, 2n ** 63n - 1n, -(2n ** 63n)]);
  }

  #wellKnown(name: WellKnownName, depth: number): unknown {
    switch (name) {
      case "Timestamp":
        return {
          seconds: this.#pick([0n, -62135596800n, 253402300799n, 1n]),
          nanos: this.#pick([0, 1, 999999999, 5e8]),
        };
      case "Duration": {
        const sign = this.#pick([1, -1]);
        const seconds = BigInt(sign) * this.#pick([0n, 315576000000n, 1n]);
        return { seconds, nanos: this.#pick([0, sign, sign * 999999999, sign * 5e8]) || 0 };
      }
      case "FieldMask":
        return { paths: this.#list(depth, () => this.#pick(["a", "b_c", "a.b_c.d"])) };
      case "Empty":
        return {};
      case "Any":
        return { typeUrl: "", value: new Uint8Array() };
      case "Value":
        return this.#json(depth);
      case "Struct":
        return Object.fromEntries(this.#list(depth, () => [this.#string(), this.#json(depth - 1)] as const));
      case "ListValue":
        return this.#list(depth, () => this.#json(depth - 1));
      case "NullValue":
        return null;
      case "BoolValue":
      case "StringValue":
      case "BytesValue":
        return { value: this.#scalar(name === "BoolValue" ? "boolean" : name === "StringValue" ? "string" : "bytes") };
      default:
        return { value: this.#scalar(wrapped[name]) };
    }
  }

  #json(depth: number): unknown {
    const leaf = () => this.#pick([null, true, false, 0, -1.5, 1e300, this.#string()]);
    if (depth <= 0) return leaf();
    const list = () => this.#list(depth, () => this.#json(depth - 1));
    const object = () => Object.fromEntries(this.#list(depth, () => [this.#string(), this.#json(depth - 1)] as const));
    return this.#pick([leaf, leaf, list, object])();
  }

  #typedArray(element: Extract<Type, { kind: "typedArray" }>["element"]): unknown {
    const length = this.#pick([0, 1, 3, 9]);
    switch (element) {
      case "int8":
        return Int8Array.from({ length }, () => this.#int(-128, 128));
      case "uint8clamped":
        return Uint8ClampedArray.from({ length }, () => this.#int(0, 256));
      case "int16":
        return Int16Array.from({ length }, () => this.#int(-32768, 32768));
      case "uint16":
        return Uint16Array.from({ length }, () => this.#int(0, 65536));
      case "int32":
        return Int32Array.from({ length }, () => this.#int(-1e9, 1e9));
      case "uint32":
        return Uint32Array.from({ length }, () => this.#int(0, 1e9));
      case "bigint64":
        return BigInt64Array.from({ length }, () => BigInt(this.#int(-1e9, 1e9)));
      case "biguint64":
        return BigUint64Array.from({ length }, () => BigInt(this.#int(0, 1e9)));
      case "float32":
        return Float32Array.from({ length }, () => this.#random());
      case "float64":
        return Float64Array.from({ length }, () => this.#random());
    }
  }

  #string(): string {
    const length = this.#pick([0, 1, 2, 5, 13, 40, 300]);
    const alphabet = this.#pick(["abc XYZ", "äöüß", "日本語", "\ufffdx", "😀a"]);
    const text = alphabet
      .repeat(Math.ceil(length / alphabet.length))
      .slice(0, length)
      .toWellFormed();
    return this.#chance(0.1) ? this.#pick(["__proto__", "constructor", "10", "2", ""]) : text;
  }

  #list<T>(depth: number, make: () => T): T[] {
    if (depth <= 0) return [];
    return Array.from({ length: this.#pick([0, 0, 1, 2, 3]) }, make);
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[this.#int(0, choices.length)] as T;
  }

  #int(from: number, to: number): number {
    return from + Math.floor(this.#random() * (to - from));
  }

  #chance(probability: number): boolean {
    return this.#random() < probability;
  }
}

/** Returns the depth of the smallest value of a type, or undefined if there is none. */
export function smallest(type: Type, index: SchemaIndex, inside: readonly string[]): number | undefined {
  const all = (parts: readonly Type[]): number | undefined => {
    const depths = parts.map((part) => smallest(part, index, inside));
    return depths.includes(undefined) ? undefined : Math.max(0, ...(depths as number[]));
  };
  const plusOne = (depth: number | undefined) => (depth === undefined ? undefined : depth + 1);
  switch (type.kind) {
    case "ref": {
      const key = JSON.stringify(type);
      if (inside.includes(key) || inside.length > 30) return undefined;
      const shape = instantiate(index.type(type.target), type.args);
      return smallest({ kind: "inline", shape }, index, [...inside, key]);
    }
    case "inline":
      return plusOne(smallestShape(type.shape, index, inside, all));
    case "tuple":
      return plusOne(all(type.elements.filter(({ optional }) => !optional).map((element) => element.type)));
    default:
      return 0;
  }
}

function smallestShape(
  shape: Shape,
  index: SchemaIndex,
  inside: readonly string[],
  all: (parts: readonly Type[]) => number | undefined,
): number | undefined {
  switch (shape.kind) {
    case "message":
      return all(shape.fields.filter(({ optional }) => !optional).map(({ type }) => type));
    case "union":
      return least(shape.variants.map(({ type }) => smallest(type, index, inside)));
    case "oneof":
      return least(shape.cases.map(({ type }) => smallest(type, index, inside)));
    case "alias":
      return smallest(shape.type, index, inside);
    case "enum":
      return 0;
  }
}

function least(depths: readonly (number | undefined)[]): number | undefined {
  const known = depths.filter((depth) => depth !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
