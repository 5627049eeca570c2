/**
 * Random schemas of data types, for comparing what is generated with what is composed: every kind of type but those that
 * need a running actor; recursion only where values can end.
 */
import fc from "fast-check";
import {
  type Field,
  type Schema,
  type Shape,
  type Type,
  type TypeDeclaration,
  wellKnownNames,
} from "../../compiler/model/index.js";
import { indexSchema, instantiate, type SchemaIndex } from "../../compiler/model/resolve.js";
import { smallest } from "./random-values.js";

const at = { file: "schemas/a.ts", line: 1, column: 1 };
/** Some in namespaces: of a type that may be anything, and of nothing else. */
const names = ["A", "A.B", "C", "D.E.F", "G"] as const;
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
        fc.constantFrom(...wellKnownNames).map((name): Type => ({ kind: "wellKnown", name })),
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

/** A name of its own in JSON, for some. */
function jsonOf(name: string, i: number): Field["tags"] {
  return i % 5 === 3 ? { json: `${name} in JSON` } : {};
}

function isPacked({ type, optional }: Field): boolean {
  if (optional || type.kind !== "array" || type.element.kind !== "scalar") return false;
  return !["string", "bytes", "date"].includes(type.element.scalar);
}

function unpacked(field: Field): Field {
  return { ...field, tags: { ...field.tags, unpacked: true } };
}

/** Ids of up to 13 members: in another order than the members. */
function idOf(index: number): number {
  return ((index * 7) % 13) + 1;
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
  const fields = fc
    .uniqueArray(field, { selector: ({ name }) => name, maxLength: 12 })
    .map((list) => list.map((one, i): Field => ({ ...one, id: idOf(i), tags: jsonOf(one.name, i) })));
  const required = fields.map((list) => list.map((one): Field => ({ ...one, optional: false })));
  const message = fields
    .map((list) => list.map((one, i): Field => (i % 2 === 0 && isPacked(one) ? unpacked(one) : one)))
    .map((list): Shape & { kind: "message" } => ({ kind: "message", fields: list }));
  const enumeration = fc
    .uniqueArray(fc.oneof(fc.string({ maxLength: 3 }), fc.integer({ min: 0, max: 4 })), { minLength: 1, maxLength: 5 })
    .map((values): Shape => {
      const list = values.map((value, i) => ({ name: String(value), value, id: idOf(i), doc: "", at }));
      return { kind: "enum", values: list, origin: "literals" };
    });
  const union = fc
    .uniqueArray(fc.tuple(fc.constantFrom("x", "y", "10", "2", "it's"), message), {
      selector: ([tag]) => tag,
      minLength: 1,
      maxLength: 3,
    })
    .map((variants): Shape => {
      const list = variants.map(([tag, shape], i) => {
        const own = { ...shape, fields: shape.fields.filter(({ name }) => name !== "kind") };
        return { tag, id: idOf(i), type: { kind: "inline", shape: own } as const, at };
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
  .map((types) => ({ package: "p", modules: [{ path: "schemas/a.ts", types, actors: [], tasks: [] }] }))
  .filter(hasValues);

/** Returns whether every type has values, and no type is an alias of itself. */
export function hasValues(schema: Schema): boolean {
  const index = indexSchema(schema);
  if (schema.modules.some(({ types }) => types.some(({ shape }) => isCircular(shape, index, 0)))) return false;
  return schema.modules.every(({ types }) =>
    types
      .filter(({ typeParameters }) => typeParameters.length === 0)
      .every(({ key }) => smallest({ kind: "ref", target: key, args: [] }, index, []) !== undefined),
  );
}

/** Returns whether an alias refers only to itself or null. */
function isCircular(shape: Shape, index: SchemaIndex, depth: number): boolean {
  if (shape.kind !== "alias") return false;
  let { type } = shape;
  while (type.kind === "nullable") type = type.inner;
  return (
    type.kind === "ref" && (depth > 10 || isCircular(instantiate(index.type(type.target), type.args), index, depth + 1))
  );
}
