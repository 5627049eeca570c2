/**
 * Random schemas of data types, and random values of a type: for comparing what is generated with what is composed. Every
 * kind of type but those that need a running actor; recursion only where values can end.
 */
import fc from "fast-check";
import type { Field, Schema, Shape, Type, TypeDeclaration } from "../../compiler/model/index.js";
import { indexSchema, instantiate, type SchemaIndex } from "../../compiler/model/resolve.js";

const at = { file: "schemas/a.ts", line: 1, column: 1 };
const names = ["A", "B", "C", "D", "E"] as const;
const keyOf = (name: string) => `schemas/a.ts#${name}`;

const scalars =
  "boolean double float32 int32 uint32 sint32 fixed32 sfixed32 int64 uint64 sint64 fixed64 sfixed64 string bytes date".split(
    " ",
  ) as Extract<Type, { kind: "scalar" }>["scalar"][];
const elements = "int8 uint8clamped int16 uint16 int32 uint32 bigint64 biguint64 float32 float64".split(" ") as Extract<
  Type,
  { kind: "typedArray" }
>["element"][];

const fieldNames = [
  "a",
  "b",
  "text",
  "value",
  "w",
  "at",
  "toString",
  "__proto__",
  "with-dash",
  "7",
  "bits",
  "constructor",
];

/** Types that may refer to the declarations `known`, with `open` as the type parameter in scope. */
function types(known: readonly { name: string; arity: number }[], open: boolean): fc.Arbitrary<Type> {
  return fc.letrec<{ type: Type; shape: Shape }>((tie) => {
    const type = tie("type");
    const readonly = fc.boolean();
    const references = known.map(({ name, arity }) =>
      fc
        .array(type, { minLength: arity, maxLength: arity })
        .map((args): Type => ({ kind: "ref", target: keyOf(name), args })),
    );
    return {
      type: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        { weight: 6, arbitrary: fc.constantFrom(...scalars).map((scalar): Type => ({ kind: "scalar", scalar })) },
        fc.constantFrom(...elements).map((element): Type => ({ kind: "typedArray", element })),
        ...(open ? [fc.constant<Type>({ kind: "parameter", name: "T" })] : []),
        ...references,
        fc.record({ kind: fc.constant("array" as const), element: type, readonly }),
        fc.record({ kind: fc.constant("set" as const), element: type, readonly }),
        fc.record({ kind: fc.constant("map" as const), key: type, value: type, readonly }),
        fc.record({ kind: fc.constant("record" as const), value: type }),
        type.map((inner): Type => ({ kind: "nullable", inner })),
        fc
          .tuple(
            fc.array(type, { maxLength: 3 }),
            fc.array(type, { maxLength: 2 }),
            fc.option(type, { nil: undefined }),
          )
          .map(([required, optional, rest]): Type => {
            const part = (type: Type, optional: boolean) => ({ type, optional });
            const list = [...required.map((t) => part(t, false)), ...optional.map((t) => part(t, true))];
            return { kind: "tuple", elements: list, ...(rest === undefined ? {} : { rest }), readonly: false };
          }),
        tie("shape").map((shape): Type => ({ kind: "inline", shape })),
      ),
      shape: shapes(type),
    };
  }).type;
}

function shapes(type: fc.Arbitrary<Type>): fc.Arbitrary<Exclude<Shape, { kind: "alias" }>> {
  const field = fc.record({
    name: fc.constantFrom(...fieldNames),
    id: fc.constant(1),
    type,
    optional: fc.boolean(),
    readonly: fc.boolean(),
    doc: fc.constant(""),
    tags: fc.constant({}),
    at: fc.constant(at),
  });
  const fields = fc.uniqueArray(field, { selector: ({ name }) => name, maxLength: 12 });
  const required = fields.map((list) => list.map((one): Field => ({ ...one, optional: false })));
  const message = fields.map((list): Shape & { kind: "message" } => ({ kind: "message", fields: list }));
  const enumeration = fc
    .uniqueArray(fc.oneof(fc.string({ maxLength: 3 }), fc.integer({ min: 0, max: 4 })), { minLength: 1, maxLength: 5 })
    .map((values): Shape => {
      const list = values.map((value) => ({ name: String(value), value, id: 0, doc: "", at }));
      return { kind: "enum", values: list, origin: "literals" };
    });
  const union = fc
    .uniqueArray(fc.tuple(fc.constantFrom("x", "y", "10", "2", "it's"), message), {
      selector: ([tag]) => tag,
      minLength: 1,
      maxLength: 3,
    })
    .map((variants): Shape => {
      const list = variants.map(([tag, shape]) => {
        const own = { ...shape, fields: shape.fields.filter(({ name }) => name !== "kind") };
        return { tag, id: 1, type: { kind: "inline", shape: own } as const, at };
      });
      return { kind: "union", discriminant: "kind", variants: list };
    });
  const oneof = required.filter((cases) => cases.length > 0).map((cases): Shape => ({ kind: "oneof", cases }));
  return fc.oneof({ weight: 4, arbitrary: message }, enumeration, union, oneof) as fc.Arbitrary<
    Exclude<Shape, { kind: "alias" }>
  >;
}

/** One module with up to five declarations, the last of which is generic; each refers to itself and to those before it. */
export const randomSchema: fc.Arbitrary<Schema> = fc
  .integer({ min: 1, max: names.length })
  .chain((count) => {
    const known = names.slice(0, count).map((name, i) => ({ name, arity: i === 4 ? 1 : 0 }));
    return fc.tuple(
      ...known.map(({ name, arity }, i): fc.Arbitrary<TypeDeclaration> => {
        const type = types(
          known.slice(0, i + 1).filter((other) => other.arity === 0 || other.name !== name),
          arity > 0,
        );
        const alias = type.map((aliased): Shape => ({ kind: "alias", type: aliased }));
        return fc.oneof({ weight: 3, arbitrary: shapes(type) }, alias).map((shape) => ({
          key: keyOf(name),
          name,
          exported: true,
          doc: "",
          typeParameters: arity > 0 ? ["T"] : [],
          shape,
          at,
        }));
      }),
    );
  })
  .map((types) => ({ package: "p", modules: [{ path: "schemas/a.ts", types, actors: [] }] }))
  .filter(hasValues);

/** Whether every type has values, and none is an alias of itself. */
function hasValues(schema: Schema): boolean {
  const index = indexSchema(schema);
  if (schema.modules.some(({ types }) => types.some(({ shape }) => isCircular(shape, index, 0)))) return false;
  return schema.modules.every(({ types }) =>
    types
      .filter(({ typeParameters }) => typeParameters.length === 0)
      .every(({ key }) => smallest({ kind: "ref", target: key, args: [] }, index, []) !== undefined),
  );
}

/** Whether an alias stands for nothing but itself, or null. */
function isCircular(shape: Shape, index: SchemaIndex, depth: number): boolean {
  if (shape.kind !== "alias") return false;
  let { type } = shape;
  while (type.kind === "nullable") type = type.inner;
  return (
    type.kind === "ref" && (depth > 10 || isCircular(instantiate(index.type(type.target), type.args), index, depth + 1))
  );
}

/** How deep the smallest value of a type is; undefined if there is none. */
function smallest(type: Type, index: SchemaIndex, inside: readonly string[]): number | undefined {
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

/** A source of numbers in [0, 1): the same for the same seed. After Sebastiano Vigna, SplitMix32. */
export function randomNumbers(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return ((z ^ (z >>> 16)) >>> 0) / 2 ** 32;
  };
}

/** Random values of the types of one schema. */
export class RandomValues {
  readonly #index: SchemaIndex;
  readonly #random: () => number;

  constructor(index: SchemaIndex, random: () => number) {
    this.#index = index;
    this.#random = random;
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
        const fields = type.kind === "inline" && type.shape.kind === "message" ? type.shape.fields : [];
        return Object.fromEntries([[shape.discriminant, tag], ...this.#fields(fields, depth - 1)]);
      }
    }
  }

  /** Where values must end soon, those with the smallest ones. */
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
        return new Date(this.#pick([0, -1, 8.64e15, -8.64e15, 1.7e12]));
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
    const alphabet = this.#pick(["abc XYZ", "äöüß", "日本語", "\ud800x", "😀a"]);
    const text = alphabet.repeat(Math.ceil(length / alphabet.length)).slice(0, length);
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
