/** Composed codecs of the types of a schema, with the numbers of the lock: what reads and writes the protobuf layout. */

import { flattenedCases } from "../../compiler/model/flattened-oneof.js";
import {
  indexSchema,
  instantiate,
  type Schema,
  type SchemaIndex,
  type Shape,
  type Type,
  typeKey,
} from "../../compiler/model/index.js";
import { type Codec, codec } from "../../runtime/wire/index.js";

type AnyCodec = Codec<unknown>;

const typedArrays = {
  int8: codec.int8Array,
  uint8clamped: codec.uint8ClampedArray,
  int16: codec.int16Array,
  uint16: codec.uint16Array,
  int32: codec.int32Array,
  uint32: codec.uint32Array,
  bigint64: codec.bigInt64Array,
  biguint64: codec.bigUint64Array,
  float32: codec.float32Array,
  float64: codec.float64Array,
} as const;

/** `type Rows = Rows[]`: what is composed is made from the inside out, and this has none. Generated codecs have. */
class RecursiveAlias extends Error {}

export class Codecs {
  readonly #index: SchemaIndex;
  readonly #open = new Set<string>();
  readonly #known = new Map<string, AnyCodec>();

  /** @param schema with ids */
  constructor(schema: Schema) {
    this.#index = indexSchema(schema);
  }

  of(type: Type): AnyCodec {
    switch (type.kind) {
      case "scalar":
        return codec[type.scalar] as AnyCodec;
      case "typedArray":
        return typedArrays[type.element] as AnyCodec;
      case "array":
        return codec.array(this.of(type.element)) as AnyCodec;
      case "set":
        return codec.set(this.of(type.element)) as AnyCodec;
      case "map":
        return codec.map(this.of(type.key), this.of(type.value)) as AnyCodec;
      case "record":
        return codec.record(this.of(type.value)) as AnyCodec;
      case "nullable":
        return codec.nullable(this.of(type.inner)) as AnyCodec;
      case "tuple": {
        const elements = type.elements.map((one) => maybe(this.of(one.type), one.optional));
        if (type.rest === undefined) return codec.tupleAs({}, ...(elements as readonly AnyCodec[])) as AnyCodec;
        return codec.tupleWithRest(elements, this.of(type.rest)) as AnyCodec;
      }
      case "wellKnown": {
        const name = (type.name.charAt(0).toLowerCase() + type.name.slice(1)) as keyof typeof codec;
        return codec[name] as unknown as AnyCodec;
      }
      case "ref":
        return this.#reference(type);
      case "inline":
        return this.#shape("", type.shape);
      default:
        throw new Error(`no codec of ${type.kind}`);
    }
  }

  #reference(type: Extract<Type, { kind: "ref" }>): AnyCodec {
    const key = typeKey(type);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const target = this.#index.type(type.target);
    let made: AnyCodec | undefined;
    const shape = instantiate(target, type.args);
    if (shape.kind === "alias") {
      if (this.#open.has(key)) throw new RecursiveAlias(`${target.name} is an alias of what it is part of`);
      this.#open.add(key);
      made = this.of(shape.type);
      this.#open.delete(key);
      this.#known.set(key, made);
      return made;
    }
    this.#known.set(
      key,
      codec.lazy(() => made as AnyCodec),
    );
    made = this.#shape(target.name, shape);
    this.#known.set(key, made);
    return made;
  }

  #shape(name: string, shape: Shape): AnyCodec {
    switch (shape.kind) {
      case "alias":
        return this.of(shape.type);
      case "enum":
        return codec.enumeration(
          name,
          shape.values.map(({ value }) => value),
          { numbers: shape.values.map(({ id }) => id) },
        ) as AnyCodec;
      case "message": {
        const fields = () =>
          fromEntries(shape.fields.map((field) => [field.name, maybe(this.of(field.type), field.optional)]));
        const flat = shape.fields.filter(({ type, optional }) => flattenedCases(type, optional) !== undefined);
        return codec.object(name, fields as never, {
          numbers: byKeyOrder(shape.fields.map((field) => [field.name, field.id])),
          flat: flat.map((field) => field.name),
        }) as AnyCodec;
      }
      case "union":
        return codec.union(
          name,
          shape.discriminant,
          () => fromEntries(shape.variants.map(({ tag, type }) => [tag, this.of(type)])),
          { numbers: byKeyOrder(shape.variants.map(({ tag, id }) => [tag, id])) },
        ) as AnyCodec;
      case "oneof":
        return codec.oneof(name, () => fromEntries(shape.cases.map((one) => [one.name, this.of(one.type)])), {
          numbers: byKeyOrder(shape.cases.map((one) => [one.name, one.id])),
        }) as AnyCodec;
    }
  }
}

function maybe(inner: AnyCodec, optional: boolean): AnyCodec {
  return optional ? (codec.optional(inner) as AnyCodec) : inner;
}

function fromEntries<T>(entries: readonly (readonly [string, T])[]): Record<string, T> {
  return Object.fromEntries(entries);
}

/** Objects list names that are whole numbers first: numbers follow. */
function byKeyOrder(entries: readonly (readonly [string, number])[]): readonly number[] {
  return Object.values(Object.fromEntries(entries));
}

/**
 * Whether all types of a schema have composed codecs. An alias that contains itself has none, and where it is part of another type, that
 * is noticed only when a value of that type is encoded.
 */
export function canBeComposed({ modules }: Schema, codecs: Codecs): boolean {
  const argument: Type = { kind: "scalar", scalar: "boolean" };
  try {
    for (const { key, typeParameters } of modules.flatMap(({ types }) => types)) {
      codecs.of({ kind: "ref", target: key, args: typeParameters.map(() => argument) });
    }
    return true;
  } catch (error) {
    if (error instanceof RecursiveAlias) return false;
    throw error;
  }
}
