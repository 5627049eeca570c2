/** Random values of a type of the model: what the codecs accept, at the ends of every range too. */
import fc from "fast-check";
import {
  type Field,
  indexSchema,
  instantiate,
  type Schema,
  type Shape,
  type Type,
} from "../../../../compiler/model/index.js";

/** @param leaves types deeper than this take what ends them */
export function valuesOf(schema: Schema, name: string, leaves = 4): fc.Arbitrary<unknown> {
  const index = indexSchema(schema);
  const declaration = schema.modules.flatMap(({ types }) => types).find((type) => type.name === name);
  if (declaration === undefined) throw new Error(`cannot make values of ${name}: the schema does not have it`);
  return ofType({ kind: "ref", target: declaration.key, args: [] }, leaves);

  function ofType(type: Type, left: number): fc.Arbitrary<unknown> {
    const list = (element: Type): fc.Arbitrary<unknown[]> =>
      left <= 0 ? fc.constant([]) : fc.array(ofType(element, left - 1), { maxLength: 3 });
    switch (type.kind) {
      case "scalar":
        return scalars[type.scalar] as fc.Arbitrary<unknown>;
      case "typedArray":
        return typedArrays[type.element] as fc.Arbitrary<unknown>;
      case "array":
        return list(type.element);
      case "set":
        return list(type.element).map((elements) => new Set(elements));
      case "map":
        return fc
          .tuple(list(type.key), list(type.value))
          .map(([keys, values]) => new Map(keys.slice(0, values.length).map((key, i) => [key, values[i]])));
      case "record":
        return fc
          .tuple(fc.array(fc.oneof(word, fc.constant("__proto__")), { maxLength: 3 }), list(type.value))
          .map(([keys, values]) => {
            const entries = keys.slice(0, values.length).map((key, i) => [key, values[i]] as const);
            const record = {};
            for (const [key, value] of entries) {
              Object.defineProperty(record, key, { value, enumerable: true, configurable: true, writable: true });
            }
            return record;
          });
      case "wellKnown":
        return wellKnown[type.name] as fc.Arbitrary<unknown>;
      case "nullable":
        return left <= 0 ? fc.constant(null) : fc.option(ofType(type.inner, left), { nil: null });
      case "tuple": {
        const required = type.elements.filter(({ optional }) => !optional).length;
        return fc
          .tuple(
            fc.tuple(...type.elements.map((element) => ofType(element.type, left - 1))),
            fc.integer({ min: required, max: type.elements.length }),
            type.rest === undefined ? fc.constant([]) : list(type.rest),
          )
          .map(([elements, count, rest]) => (rest.length === 0 ? elements.slice(0, count) : [...elements, ...rest]));
      }
      case "ref":
        return ofShape(instantiate(index.type(type.target), type.args), left);
      case "inline":
        return ofShape(type.shape, left);
      default:
        throw new Error(`cannot make values of ${type.kind}`);
    }
  }

  function ofShape(shape: Shape, left: number): fc.Arbitrary<unknown> {
    switch (shape.kind) {
      case "alias":
        return ofType(shape.type, left - 1);
      case "enum":
        return fc.constantFrom(...shape.values.map(({ value }) => value));
      case "message":
        return ofFields(shape.fields, left);
      case "oneof":
        return fc.oneof(
          ...shape.cases.map(({ name, type }) => ofType(type, left - 1).map((value) => ({ case: name, value }))),
        );
      case "union": {
        const least = shape.variants.slice(0, left <= 0 ? 1 : undefined);
        return fc.oneof(
          ...least.map(({ tag, type }) =>
            ofType(type, left - 1).map((value) => ({ ...(value as object), [shape.discriminant]: tag })),
          ),
        );
      }
    }
  }

  function ofFields(fields: readonly Field[], left: number): fc.Arbitrary<unknown> {
    const parts = fields.map(({ type, optional }) => {
      if (optional && left <= 0) return fc.constant(undefined);
      const value = ofType(type, left - 1);
      return optional ? fc.option(value, { nil: undefined }) : value;
    });
    return fc.tuple(...parts).map((values) => {
      const message = {};
      for (const [i, { name }] of fields.entries()) {
        if (values[i] === undefined) continue;
        Object.defineProperty(message, name, {
          value: values[i],
          enumerable: true,
          configurable: true,
          writable: true,
        });
      }
      return message;
    });
  }
}

const word = fc.string({ unit: "grapheme", maxLength: 12 });
// Texts in messages end with a zero; others may be in them, but tools that print them stop there.
const text = word.map((value) => value.replaceAll("\0", ""));
const whole32 = fc.oneof(fc.integer(), fc.constantFrom(0, -1, 2 ** 31 - 1, -(2 ** 31)));
const natural32 = fc.oneof(fc.nat(), fc.constantFrom(0, 2 ** 32 - 1));
const whole64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const natural64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const double = fc.double();
const float = fc.float();

const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const time = fc.record({ seconds: whole64, nanos: whole32 }, { noNullPrototype: true });
const wellKnown: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  Timestamp: time,
  Duration: time,
  FieldMask: fc.record({ paths: fc.array(text, { maxLength: 3 }) }, { noNullPrototype: true }),
  Empty: fc.constant({}),
  Any: fc.record({ typeUrl: text, value: fc.uint8Array({ maxLength: 9 }) }, { noNullPrototype: true }),
  Struct: fc.dictionary(text, json, { maxKeys: 3, noNullPrototype: true }),
  Value: json,
  ListValue: fc.array(json, { maxLength: 3 }),
  NullValue: fc.constant(null),
  StringValue: fc.record({ value: text }, { noNullPrototype: true }),
};

const scalars: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  boolean: fc.boolean(),
  double,
  float32: float,
  int32: whole32,
  sint32: whole32,
  sfixed32: whole32,
  uint32: natural32,
  fixed32: natural32,
  int64: whole64,
  sint64: whole64,
  sfixed64: whole64,
  uint64: natural64,
  fixed64: natural64,
  string: text,
  bytes: fc.uint8Array({ maxLength: 20 }),
  date: fc.date({ noInvalidDate: true }),
};

const typedArrays: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  int8: fc.int8Array({ maxLength: 9 }),
  uint8clamped: fc.uint8ClampedArray({ maxLength: 9 }),
  int16: fc.int16Array({ maxLength: 9 }),
  uint16: fc.uint16Array({ maxLength: 9 }),
  int32: fc.int32Array({ maxLength: 9 }),
  uint32: fc.uint32Array({ maxLength: 9 }),
  bigint64: fc.bigInt64Array({ maxLength: 9 }),
  biguint64: fc.bigUint64Array({ maxLength: 9 }),
  float32: fc.float32Array({ maxLength: 9 }),
  float64: fc.float64Array({ maxLength: 9 }),
};
