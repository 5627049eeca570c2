/** Gives the members of a random schema numbers in any order, and cases of some oneofs numbers of the message around them. */
import type { Field, Schema, Shape, Type } from "../../compiler/model/index.js";

type Random = () => number;

export function withRandomIds(schema: Schema, random: Random): Schema {
  return {
    ...schema,
    modules: schema.modules.map((module) => ({
      ...module,
      types: module.types.map((declaration) => ({ ...declaration, shape: shapeOf(declaration.shape, random) })),
    })),
  };
}

/** Numbers in any order, each once; some of them large. */
function numbers(count: number, random: Random): readonly number[] {
  const found = new Set<number>();
  while (found.size < count) {
    const size = random() < 0.8 ? 30 : random() < 0.5 ? 3000 : 2 ** 29 - 1;
    found.add(1 + Math.floor(random() * size));
  }
  return [...found];
}

function shapeOf(shape: Shape, random: Random): Shape {
  switch (shape.kind) {
    case "message":
      return { ...shape, fields: fieldsOf(shape.fields, random) };
    case "oneof":
      return { ...shape, cases: casesOf(shape.cases, numbers(shape.cases.length, random), random) };
    case "union": {
      const ids = numbers(shape.variants.length, random);
      const variants = shape.variants.map((variant, i) => {
        return { ...variant, id: ids[i] as number, type: typeOf(variant.type, random) };
      });
      return { ...shape, variants };
    }
    case "enum": {
      const ids = numbers(shape.values.length, random);
      const isNumbers = shape.values.every(({ value }) => typeof value === "number");
      const values = shape.values.map((value, i) => {
        return { ...value, id: isNumbers ? Number(value.value) : (ids[i] as number) };
      });
      return { ...shape, values };
    }
    case "alias":
      return { ...shape, type: typeOf(shape.type, random) };
  }
}

function casesOf(cases: readonly Field[], ids: readonly number[], random: Random): readonly Field[] {
  return cases.map((field, i) => ({ ...field, id: ids[i] as number, type: typeOf(field.type, random) }));
}

function fieldsOf(fields: readonly Field[], random: Random): readonly Field[] {
  const ids = [...numbers(fields.length + 20, random)];
  return fields.map((field) => {
    const id = ids.pop() as number;
    const inner = field.type.kind === "nullable" ? field.type.inner : field.type;
    if (inner.kind !== "inline" || inner.shape.kind !== "oneof" || random() < 0.3) {
      return { ...field, id, type: typeOf(field.type, random) };
    }
    const { cases } = inner.shape;
    const taken = cases.map(() => ids.pop() ?? 0);
    if (taken.includes(0)) return { ...field, id, type: typeOf(field.type, random) };
    const tagged = casesOf(cases, taken, random).map((one) => ({ ...one, tags: { id: one.id } }));
    const flat: Type = { kind: "inline", shape: { kind: "oneof", cases: tagged } };
    return { ...field, id, type: field.type.kind === "nullable" ? { kind: "nullable", inner: flat } : flat };
  });
}

function typeOf(type: Type, random: Random): Type {
  switch (type.kind) {
    case "array":
    case "set":
      return { ...type, element: typeOf(type.element, random) };
    case "map":
      return { ...type, key: typeOf(type.key, random), value: typeOf(type.value, random) };
    case "record":
      return { ...type, value: typeOf(type.value, random) };
    case "nullable":
      return { ...type, inner: typeOf(type.inner, random) };
    case "ref":
      return { ...type, args: type.args.map((arg) => typeOf(arg, random)) };
    case "tuple": {
      const elements = type.elements.map((element) => ({ ...element, type: typeOf(element.type, random) }));
      return { ...type, elements, ...(type.rest && { rest: typeOf(type.rest, random) }) };
    }
    case "inline":
      return { ...type, shape: shapeOf(type.shape, random) };
    default:
      return type;
  }
}
