/**
 * `codec`: the codecs of scalars, and functions that compose codecs. They serve types without a name in a schema; for named
 * types, the compiler generates faster codecs with the same layout.
 */
import type { Codec } from "../codec.js";
import type { ActorDescriptor } from "../descriptor.js";
import { ArrayCodec } from "./array.js";
import * as binary from "./binary.js";
import { type ChoiceProto, OneofCodec, UnionCodec } from "./choices.js";
import { MapCodec, RecordCodec, SetCodec } from "./collections.js";
import { EnumCodec, type EnumProto, RangeCodec } from "./enums.js";
import { generic } from "./generic.js";
import { MeshCodec, ObjectRefCodec, PortCodec, RdmaBufferCodec, TensorCodec } from "./handles.js";
import * as jsonValues from "./json-value.js";
import { LazyCodec } from "./lazy.js";
import { type FieldCodecs, ObjectCodec, type ObjectOf, type ObjectProto } from "./object.js";
import { NullableCodec, OptionalCodec } from "./presence.js";
import * as scalars from "./scalars.js";
import { TupleCodec, type TupleProto } from "./tuple.js";
import * as wellKnown from "./well-known.js";

type CodecTuple<T extends readonly unknown[]> = { readonly [I in keyof T]-?: Codec<T[I] | undefined> };
type NamedCodecs = Readonly<Record<string, Codec<unknown>>>;

/**
 * Makes the codec of a plain object with the given properties.
 *
 * @param name the name of the type
 * @param fields the codecs by the names of the properties
 * @param proto numbers and names of the fields in the protobuf layout and JSON
 */
function object<F extends Readonly<Record<string, Codec<unknown>>>>(
  name: string,
  fields: F,
  proto?: ObjectProto,
): Codec<ObjectOf<F>>;
/**
 * Makes the codec of a plain object with the given properties.
 *
 * @param name the name of the type
 * @param fields the codecs by the names of the properties, or a function that returns them, for types that contain
 *   themselves
 * @param proto numbers and names of the fields in the protobuf layout and JSON
 */
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

/**
 * The codecs of scalars and well-known types, and functions that make codecs of other codecs.
 *
 * @example
 * ```ts
 * import { codec } from "viceroy";
 *
 * const pairs = codec.array(codec.tuple(codec.string, codec.int32));
 * const bytes = pairs.encode([
 *   ["a", 1],
 *   ["b", -1],
 * ]);
 * pairs.decode(bytes); // [["a", 1], ["b", -1]]
 * ```
 */
export const codec = {
  ...scalars,
  ...binary,
  ...jsonValues,
  ...wellKnown,

  /** Makes the codec of an array. */
  array<T>(element: Codec<T>): Codec<T[]> {
    return new ArrayCodec(element);
  },

  /** Makes the codec of a tuple. Elements at the end whose codec is `codec.optional` may be missing. */
  tuple<T extends readonly unknown[]>(...elements: CodecTuple<T>): Codec<T> {
    const list = elements as unknown as readonly Codec<unknown>[];
    const name = `[${list.map((element) => element.name).join(", ")}]`;
    return new TupleCodec(
      name,
      list.map((codec, segment) => ({ codec, segment })),
    );
  },

  /** Makes the codec of a tuple that ends with any number of elements of one type. */
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

  /** Makes the codec of a tuple with labels and a message name for the protobuf layout and JSON. */
  tupleAs<T extends readonly unknown[]>(proto: TupleProto, ...elements: CodecTuple<T>): Codec<T> {
    const list = elements as unknown as readonly Codec<unknown>[];
    const name = `[${list.map((element) => element.name).join(", ")}]`;
    return new TupleCodec(
      name,
      list.map((codec, segment) => ({ codec, segment })),
      undefined,
      proto,
    );
  },

  /**
   * Makes the codec of the arguments of a call.
   *
   * @param name the name of the list of arguments, in error messages
   * @param parameters the codecs by the names of the parameters, in order
   */
  parameters<T extends readonly unknown[]>(name: string, parameters: NamedCodecs, proto?: TupleProto): Codec<T> {
    const elements = Object.entries(parameters).map(([parameter, codec]) => ({
      codec: codec as Codec<unknown>,
      segment: { text: `(${parameter})` },
    }));
    return new TupleCodec(name, elements, undefined, { labels: Object.keys(parameters), ...proto });
  },

  /** Makes the codec of a Map. */
  map<K, V>(key: Codec<K>, value: Codec<V>): Codec<Map<K, V>> {
    return new MapCodec(key, value);
  },

  /** Makes the codec of a Set. */
  set<T>(element: Codec<T>): Codec<Set<T>> {
    return new SetCodec(element);
  },

  /** Makes the codec of a plain object with arbitrary keys, `__proto__` included. */
  record<T>(value: Codec<T>): Codec<Record<string, T>> {
    return new RecordCodec(value);
  },

  /** Makes the codec of `T | undefined`. A property or a last element of a tuple with this codec may be missing. */
  optional<T>(inner: Codec<T>): Codec<T | undefined> {
    return new OptionalCodec(inner);
  },

  /** Makes the codec of `T | null`. */
  nullable<T>(inner: Codec<T>): Codec<T | null> {
    return inner instanceof NullableCodec ? inner : new NullableCodec(inner);
  },

  /** Makes the codec of a plain object with the given properties. */
  object,

  /**
   * Makes the codec of one of several literals.
   *
   * @param name the name of the type
   * @param values the literals, in the order of their indices
   */
  enumeration<T extends string | number>(name: string, values: readonly T[], proto?: EnumProto): Codec<T> {
    const isRange = values.length <= 256 && values.every((value, i) => value === i);
    if (isRange) return new RangeCodec(name, values.length - 1, proto) as Codec<never>;
    return new EnumCodec(name, values, proto);
  },

  /**
   * Makes the codec of a discriminated union of objects.
   *
   * @param name the name of the type
   * @param discriminant the property that tells the variants apart; the codecs of the variants may leave it out
   * @param variants returns the codecs by the value of the discriminant
   */
  union<T extends object>(
    name: string,
    discriminant: string,
    variants: () => NamedCodecs,
    proto?: ChoiceProto,
  ): Codec<T> {
    return new UnionCodec<T>(name, discriminant, variants as () => Readonly<Record<string, Codec<unknown>>>, proto);
  },

  /**
   * Makes the codec of a oneof: `{ case: "a", value: A } | { case: "b", value: B }`.
   *
   * @param name the name of the type
   * @param cases returns the codecs by the name of the case
   */
  oneof<T extends { readonly case: string; readonly value: unknown }>(
    name: string,
    cases: () => NamedCodecs,
    proto?: ChoiceProto,
  ): Codec<T> {
    return new OneofCodec<T>(name, cases as () => Readonly<Record<string, Codec<unknown>>>, proto);
  },

  /** Makes the codec of a port for values of the given codec. */
  port<P>(element: () => Codec<unknown>): Codec<P> {
    return new PortCodec<P>(element as () => Codec<unknown>);
  },

  /**
   * Makes the codec of a mesh of actors.
   *
   * @param descriptor returns the interface of the actors
   * @param dims the dimensions that the mesh must have; without it, any mesh is accepted
   */
  mesh<M>(descriptor: () => ActorDescriptor, dims?: readonly string[]): Codec<M> {
    return new MeshCodec<M>(descriptor, dims);
  },

  /** Makes the codec of a handle to registered memory. */
  rdmaBuffer<B>(): Codec<B> {
    return new RdmaBufferCodec<B>();
  },

  /** Makes the codec of a tensor. */
  tensor<T>(): Codec<T> {
    return new TensorCodec<T>();
  },

  /**
   * Makes the codec of a reference to a value of tasks.
   *
   * @param element returns the codec of the type of the value. Only its name is used: the value is in no message
   */
  objectRef<R>(element: () => Codec<unknown>): Codec<R> {
    return new ObjectRefCodec<R>(element);
  },

  /**
   * Makes a codec that calls a function for its target when it is first used: for recursive types, and for modules that
   * import each other.
   */
  lazy<T>(target: () => Codec<T>): Codec<T> {
    return new LazyCodec(target);
  },

  generic,
} as const;
