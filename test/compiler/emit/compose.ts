/** Codecs of a schema made of the runtime's combinators, without generated code: numbers and names from the model. */
import { flattenedCases } from "../../../compiler/model/flattened-oneof.js";
import { instantiate, type SchemaIndex, typeKey } from "../../../compiler/model/resolve.js";
import type { Field, Shape, Type, TypedArrayElement } from "../../../compiler/model/type.js";
import { hasNumbers } from "../../../compiler/protobuf/form/form.js";
import { LazyCodec } from "../../../runtime/wire/composed/lazy.js";
import { type Codec, codec } from "../../../runtime/wire/index.js";

const typedArrays: Readonly<Record<TypedArrayElement, Codec<unknown>>> = {
  int8: codec.int8Array as Codec<unknown>,
  uint8clamped: codec.uint8ClampedArray as Codec<unknown>,
  int16: codec.int16Array as Codec<unknown>,
  uint16: codec.uint16Array as Codec<unknown>,
  int32: codec.int32Array as Codec<unknown>,
  uint32: codec.uint32Array as Codec<unknown>,
  bigint64: codec.bigInt64Array as Codec<unknown>,
  biguint64: codec.bigUint64Array as Codec<unknown>,
  float32: codec.float32Array as Codec<unknown>,
  float64: codec.float64Array as Codec<unknown>,
};

/** An alias that may refer to itself: its name is asked for before it is made. */
class NamedLazy extends LazyCodec<unknown> {
  readonly #name: string;

  constructor(name: string, find: () => Codec<unknown>) {
    super(find);
    this.#name = name;
  }

  override get name(): string {
    return this.#name;
  }
}

type Parts = Record<string, Codec<unknown>>;

export class Composer {
  readonly #index: SchemaIndex;
  readonly #known = new Map<string, Codec<unknown>>();
  readonly #enumNames: ReadonlyMap<Shape, string>;

  /** @param enumNames full names of enums that are written in place: JSON has them */
  constructor(index: SchemaIndex, enumNames: ReadonlyMap<Shape, string> = new Map()) {
    this.#index = index;
    this.#enumNames = enumNames;
  }

  type(type: Type): Codec<unknown> {
    switch (type.kind) {
      case "scalar":
        return codec[type.scalar] as Codec<unknown>;
      case "typedArray":
        return typedArrays[type.element];
      case "array":
        return codec.array(this.type(type.element)) as Codec<unknown>;
      case "set":
        return codec.set(this.type(type.element)) as Codec<unknown>;
      case "map":
        return codec.map(this.type(type.key), this.type(type.value)) as Codec<unknown>;
      case "record":
        return codec.record(this.type(type.value)) as Codec<unknown>;
      case "nullable":
        return codec.nullable(this.type(type.inner)) as Codec<unknown>;
      case "tuple": {
        const parts = type.elements.map(({ type, optional }) => this.#part(type, optional));
        const labels = type.elements.map(({ name }, i) => name ?? `item${i + 1}`);
        if (type.rest === undefined) return codec.tupleAs({ labels }, ...parts) as Codec<unknown>;
        return codec.tupleWithRest(parts, this.type(type.rest), { labels }) as Codec<unknown>;
      }
      case "ref":
        return this.#reference(type);
      case "inline":
        return this.#shape(type.shape, "");
      case "wellKnown": {
        const named = codec as unknown as Readonly<Record<string, Codec<unknown>>>;
        // `UInt32Value` is `uint32Value`.
        const name = type.name.replace(/^UI|^[A-Z]/, (capitals) => capitals.toLowerCase());
        return named[name] ?? (named[type.name.charAt(0).toLowerCase() + type.name.slice(1)] as Codec<unknown>);
      }
      default:
        throw new Error(`cannot compose a codec of a type of kind ${type.kind}`);
    }
  }

  /** Through a codec that is looked up when it is used: types refer to themselves. */
  #reference(type: Extract<Type, { kind: "ref" }>): Codec<unknown> {
    const key = typeKey(type);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const declaration = this.#index.type(type.target);
    const shape = instantiate(declaration, type.args);
    let made: Codec<unknown> | undefined;
    const make = (): Codec<unknown> => {
      made ??= this.#shape(shape, declaration.name);
      return made;
    };
    if (shape.kind !== "alias") {
      const own = make();
      this.#known.set(key, own);
      return own;
    }
    this.#known.set(key, new NamedLazy(declaration.name, make));
    const own = make();
    this.#known.set(key, own);
    return own;
  }

  #part(type: Type, optional: boolean): Codec<unknown> {
    return optional ? (codec.optional(this.type(type)) as Codec<unknown>) : this.type(type);
  }

  #parts(fields: readonly Field[]): Parts {
    return Object.fromEntries(fields.map(({ name, type, optional }) => [name, this.#part(type, optional)]));
  }

  #shape(shape: Shape, name: string): Codec<unknown> {
    switch (shape.kind) {
      case "message": {
        const fields = inOrder(shape.fields);
        const flat = fields.filter(({ type, optional }) => flattenedCases(type, optional) !== undefined);
        const proto = { ...protoOf(fields), flat: flat.map((field) => field.name) };
        return codec.object(name, () => this.#parts(fields), proto) as Codec<unknown>;
      }
      case "oneof": {
        const cases = inOrder(shape.cases);
        return codec.oneof(name, () => this.#parts(cases), protoOf(cases)) as Codec<unknown>;
      }
      case "union": {
        const variants = inOrder(shape.variants.map((variant) => ({ ...variant, name: variant.tag })));
        const made = () => Object.fromEntries(variants.map(({ tag, type }) => [tag, this.type(type)]));
        const numbers = variants.map(({ id }) => id);
        return codec.union(name, shape.discriminant, made, { numbers }) as Codec<unknown>;
      }
      case "enum": {
        const values = shape.values.map(({ value }) => value);
        const ids = hasNumbers(shape) ? {} : { numbers: shape.values.map(({ id }) => id) };
        const type = name === "" ? this.#enumNames.get(shape) : undefined;
        return codec.enumeration(name, values, { ...ids, ...(type !== undefined && { type }) }) as Codec<unknown>;
      }
      case "alias":
        return this.type(shape.type);
    }
  }
}

function protoOf(fields: readonly Field[]) {
  const named = fields.flatMap(({ name, wireName }) => (wireName === undefined ? [] : [[name, wireName] as const]));
  const json = fields.flatMap(({ name, tags }) => (tags.json === undefined ? [] : [[name, tags.json] as const]));
  return {
    numbers: fields.map(({ id }) => id),
    ...(named.length > 0 && { names: Object.fromEntries(named) }),
    ...(json.length > 0 && { json: Object.fromEntries(json) }),
    unpacked: fields.filter(({ tags }) => tags.unpacked).map(({ name }) => name),
  };
}

/** As JavaScript lists properties: numbers first. */
function inOrder<T extends { readonly name: string }>(fields: readonly T[]): readonly T[] {
  const byName = new Map(fields.map((field) => [field.name, field]));
  return Object.keys(Object.fromEntries([...byName.keys()].map((name) => [name, 0]))).map(
    (name) => byName.get(name) as T,
  );
}
