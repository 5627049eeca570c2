/**
 * `codec`: codecs of scalars, and of whatever is made of other codecs. They do one small step at a time, and are there
 * for what no schema names; what a schema names has generated codecs, which do the same in straight lines.
 */
import type { Codec } from "../codec.js";
import type { ActorDescriptor } from "../descriptor.js";
import { ArrayCodec } from "./array.js";
import * as binary from "./binary.js";
import { type ChoiceProto, OneofCodec, UnionCodec } from "./choices.js";
import { MapCodec, RecordCodec, SetCodec } from "./collections.js";
import { EnumCodec, type EnumProto, RangeCodec } from "./enums.js";
import { generic } from "./generic.js";
import * as jsonValues from "./json-value.js";
import { LazyCodec } from "./lazy.js";
import { MeshCodec, PortCodec, RdmaBufferCodec, TensorCodec } from "./live.js";
import { type FieldCodecs, ObjectCodec, type ObjectOf, type ObjectProto } from "./object.js";
import { NullableCodec, OptionalCodec } from "./presence.js";
import * as scalars from "./scalars.js";
import { TupleCodec, type TupleProto } from "./tuple.js";
import * as wellKnown from "./well-known.js";

type Codecs<T extends readonly unknown[]> = { readonly [I in keyof T]-?: Codec<T[I] | undefined> };
type Named = Readonly<Record<string, Codec<unknown>>>;

/**
 * An object with known properties; given by a function when they refer to the codec being defined.
 * @param proto what the protobuf layout and JSON need to know beyond it: numbers of fields and so on
 */
function object<F extends Readonly<Record<string, Codec<unknown>>>>(
  name: string,
  fields: F,
  proto?: ObjectProto,
): Codec<ObjectOf<F>>;
function object<T extends object>(
  name: string,
  fields: FieldCodecs<T> | (() => FieldCodecs<T>),
  proto?: ObjectProto,
): Codec<T>;
function object<T extends object>(
  name: string,
  fields: FieldCodecs<T> | (() => FieldCodecs<T>),
  proto?: ObjectProto,
): Codec<T> {
  return new ObjectCodec<T>(name, fields, proto);
}

export const codec = {
  ...scalars,
  ...binary,
  ...jsonValues,
  ...wellKnown,

  array<T>(element: Codec<T>): Codec<T[]> {
    return new ArrayCodec(element);
  },

  /** Elements that are `codec.optional` may be missing at the end. */
  tuple<T extends readonly unknown[]>(...elements: Codecs<T>): Codec<T> {
    const list = elements as unknown as readonly Codec<unknown>[];
    const name = `[${list.map((element) => element.name).join(", ")}]`;
    return new TupleCodec(
      name,
      list.map((codec, segment) => ({ codec, segment })),
    );
  },

  /** A tuple that ends with any number of elements of one more type. */
  tupleWithRest<T extends readonly unknown[]>(
    elements: readonly Codec<unknown>[],
    rest: Codec<unknown>,
    proto?: TupleProto,
  ): Codec<T> {
    const list = elements as readonly Codec<unknown>[];
    const name = `[${[...list.map((element) => element.name), `...${rest.name}[]`].join(", ")}]`;
    return new TupleCodec(
      name,
      list.map((codec, segment) => ({ codec, segment })),
      rest as Codec<unknown>,
      proto,
    );
  },

  /** A tuple of which the protobuf layout and JSON need to know more: labels, the name of its message. */
  tupleAs<T extends readonly unknown[]>(proto: TupleProto, ...elements: Codecs<T>): Codec<T> {
    const list = elements as unknown as readonly Codec<unknown>[];
    const name = `[${list.map((element) => element.name).join(", ")}]`;
    return new TupleCodec(
      name,
      list.map((codec, segment) => ({ codec, segment })),
      undefined,
      proto,
    );
  },

  /** The arguments of a call, by the names of its parameters. */
  parameters<T extends readonly unknown[]>(name: string, parameters: Named, proto?: TupleProto): Codec<T> {
    const elements = Object.entries(parameters).map(([parameter, codec]) => ({
      codec: codec as Codec<unknown>,
      segment: { text: `(${parameter})` },
    }));
    return new TupleCodec(name, elements, undefined, { labels: Object.keys(parameters), ...proto });
  },

  map<K, V>(key: Codec<K>, value: Codec<V>): Codec<Map<K, V>> {
    return new MapCodec(key, value);
  },

  set<T>(element: Codec<T>): Codec<Set<T>> {
    return new SetCodec(element);
  },

  /** Plain objects with any keys; `__proto__` is a key like any other. */
  record<T>(value: Codec<T>): Codec<Record<string, T>> {
    return new RecordCodec(value);
  },

  /** `T | undefined`; as a property or at the end of a tuple, something that may be missing. */
  optional<T>(inner: Codec<T>): Codec<T | undefined> {
    return new OptionalCodec(inner);
  },

  /** `T | null`. */
  nullable<T>(inner: Codec<T>): Codec<T | null> {
    return inner instanceof NullableCodec ? inner : new NullableCodec(inner);
  },

  object,

  /** One of these literals. */
  enumeration<T extends string | number>(name: string, values: readonly T[], proto?: EnumProto): Codec<T> {
    const isRange = values.length <= 256 && values.every((value, i) => value === i);
    if (isRange) return new RangeCodec(name, values.length - 1, proto) as Codec<never>;
    return new EnumCodec(name, values, proto);
  },

  /** Objects told apart by the property `discriminant`, which the codecs of the variants may leave out. */
  union<T extends object>(name: string, discriminant: string, variants: () => Named, proto?: ChoiceProto): Codec<T> {
    return new UnionCodec<T>(name, discriminant, variants as () => Readonly<Record<string, Codec<unknown>>>, proto);
  },

  /** `{ case: "a", value: A } | { case: "b", value: B }`. */
  oneof<T extends { readonly case: string; readonly value: unknown }>(
    name: string,
    cases: () => Named,
    proto?: ChoiceProto,
  ): Codec<T> {
    return new OneofCodec<T>(name, cases as () => Readonly<Record<string, Codec<unknown>>>, proto);
  },

  port<P>(element: () => Codec<unknown>): Codec<P> {
    return new PortCodec<P>(element as () => Codec<unknown>);
  },

  /** @param dims that the mesh must have; any when not given */
  mesh<M>(descriptor: () => ActorDescriptor, dims?: readonly string[]): Codec<M> {
    return new MeshCodec<M>(descriptor, dims);
  },

  rdmaBuffer<B>(): Codec<B> {
    return new RdmaBufferCodec<B>();
  },

  tensor<T>(): Codec<T> {
    return new TensorCodec<T>();
  },

  /** A codec that may not be there yet when this is called, only when it is used. */
  lazy<T>(target: () => Codec<T>): Codec<T> {
    return new LazyCodec(target);
  },

  generic,
} as const;
