/** Small changes of a schema, as people make them and as they do not: each gives another schema, ids not yet assigned. */
import type { EnumValue, Field, Schema, Shape, Type, Variant } from "../../compiler/model/index.js";

type Random = () => number;

const at = { file: "schemas/a.ts", line: 1, column: 1 };

/** @param random in [0, 1) */
export function mutateSchema(schema: Schema, random: Random): Schema {
  const mutation = new Mutation(random, schema);
  return mutation.schema();
}

class Mutation {
  readonly #random: Random;
  readonly #schema: Schema;
  /** How likely each part of a type is changed. */
  readonly #rate: number;
  #fresh = 0;

  constructor(random: Random, schema: Schema) {
    this.#random = random;
    this.#schema = schema;
    this.#rate = this.#pick([0.02, 0.05, 0.15]);
  }

  schema(): Schema {
    const modules = this.#schema.modules.map((module) => ({
      ...module,
      types: module.types.map((type) => ({ ...type, shape: this.#shape(type.shape) })),
    }));
    return { ...this.#schema, modules };
  }

  #shape(shape: Shape): Shape {
    switch (shape.kind) {
      case "alias":
        return { ...shape, type: this.#type(shape.type) };
      case "message":
        return { ...shape, fields: this.#fields(shape.fields) };
      case "oneof": {
        const cases = this.#fields(shape.cases).map((one) => ({ ...one, optional: false }));
        return { ...shape, cases: cases.length === 0 ? shape.cases : cases };
      }
      case "union":
        return { ...shape, variants: this.#variants(shape.variants) };
      case "enum":
        return { ...shape, values: this.#values(shape.values) };
    }
  }

  #fields(fields: readonly Field[]): readonly Field[] {
    const kept = fields
      .filter(() => !this.#chance(this.#rate))
      .map((field) => {
        const changed = { ...field, type: this.#type(field.type) };
        if (this.#chance(this.#rate)) return { ...changed, optional: !field.optional };
        if (this.#chance(this.#rate)) return { ...changed, name: `renamed${this.#fresh++}`, tags: { was: field.name } };
        return changed;
      });
    if (!this.#chance(this.#rate * 2)) return kept;
    const added: Field = {
      ...{ name: `added${this.#fresh++}`, id: 1, type: this.#leaf(), optional: this.#chance(0.5), readonly: false },
      ...{ doc: "", tags: {}, at },
    };
    return this.#chance(0.5) ? [...kept, added] : [added, ...kept];
  }

  #variants(variants: readonly Variant[]): readonly Variant[] {
    const kept = variants
      .filter((_, i) => i === 0 || !this.#chance(this.#rate))
      .map((variant) => ({ ...variant, type: this.#type(variant.type, true) }));
    if (!this.#chance(this.#rate * 2)) return kept;
    const shape: Shape = { kind: "message", fields: [] };
    return [...kept, { tag: `added${this.#fresh++}`, id: 1, type: { kind: "inline", shape }, at }];
  }

  #values(values: readonly EnumValue[]): readonly EnumValue[] {
    const kept = values.filter((_, i) => i === 0 || !this.#chance(this.#rate));
    if (!this.#chance(this.#rate * 3)) return kept;
    const value = this.#chance(0.5) ? `added${this.#fresh++}` : 50 + this.#fresh++;
    const added: EnumValue = { name: String(value), value, id: 0, doc: "", at };
    return this.#chance(0.5) ? [...kept, added] : [added, ...kept];
  }

  /** @param whole it is a variant, which stays a message */
  #type(type: Type, whole = false): Type {
    if (!whole && this.#chance(this.#rate)) return this.#other(type);
    switch (type.kind) {
      case "array":
      case "set":
      case "port":
        return { ...type, element: this.#type(type.element) };
      case "map":
        return { ...type, key: this.#type(type.key), value: this.#type(type.value) };
      case "record":
        return { ...type, value: this.#type(type.value) };
      case "nullable":
        return { ...type, inner: this.#type(type.inner) };
      case "tuple": {
        const elements = type.elements.map((element) => ({ ...element, type: this.#type(element.type) }));
        const added = this.#chance(this.#rate) ? [{ type: this.#leaf(), optional: true }] : [];
        const { rest } = type;
        return { ...type, elements: [...elements, ...added], ...(rest && { rest: this.#type(rest) }) };
      }
      case "inline":
        return { ...type, shape: this.#shape(type.shape) };
      default:
        return type;
    }
  }

  /** Another type, often one that looks alike on the wire. */
  #other(type: Type): Type {
    const array = (element: Type): Type => ({ kind: "array", element, readonly: false });
    const choices: Type[] = [this.#leaf(), array(type)];
    if (type.kind === "nullable") choices.push(type.inner, type.inner);
    else choices.push({ kind: "nullable", inner: type }, { kind: "nullable", inner: type });
    if (type.kind === "array") choices.push(type.element, { ...type, kind: "set" }, { ...type, kind: "set" });
    if (type.kind === "set") choices.push({ ...type, kind: "array" }, { ...type, kind: "array" });
    if (type.kind === "typedArray")
      choices.push(array({ kind: "scalar", scalar: "sint32" }), array({ kind: "scalar", scalar: "double" }));
    if (type.kind === "record")
      choices.push({ kind: "map", key: { kind: "scalar", scalar: "string" }, value: type.value, readonly: false });
    if (type.kind === "map")
      choices.push(
        array({
          kind: "tuple",
          elements: [type.key, type.value].map((part) => ({ type: part, optional: false })),
          readonly: false,
        }),
      );
    if (type.kind === "scalar")
      choices.push(enumOf([0, 1, 7]), enumOf(["a", "b"]), { kind: "scalar", scalar: "int32" });
    if (type.kind === "inline" && type.shape.kind === "enum")
      choices.push({ kind: "scalar", scalar: "int32" }, enumOf([0, 1]), enumOf(["x", "y"]));
    if (type.kind === "tuple") choices.push(messageOf(type.elements));
    return this.#pick(choices);
  }

  #leaf(): Type {
    const shape: Shape = { kind: "message", fields: [] };
    return this.#pick<Type>([
      { kind: "scalar", scalar: "int32" },
      { kind: "scalar", scalar: "string" },
      { kind: "scalar", scalar: "bytes" },
      { kind: "scalar", scalar: "double" },
      { kind: "scalar", scalar: "date" },
      { kind: "typedArray", element: "int8" },
      { kind: "array", element: { kind: "scalar", scalar: "sint32" }, readonly: false },
      { kind: "inline", shape },
      enumOf(["a", "b"]),
      enumOf([0, 1]),
      ...this.#schema.modules.flatMap(({ types }) =>
        types
          .filter(({ typeParameters }) => typeParameters.length === 0)
          .map(({ key }): Type => ({ kind: "ref", target: key, args: [] })),
      ),
    ]);
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.#random() * choices.length)] as T;
  }

  #chance(probability: number): boolean {
    return this.#random() < probability;
  }
}

function enumOf(values: readonly (string | number)[]): Type {
  const list = values.map((value, i) => ({ name: String(value), value, id: i + 1, doc: "", at }));
  return { kind: "inline", shape: { kind: "enum", values: list, origin: "literals" } };
}

function messageOf(elements: Extract<Type, { kind: "tuple" }>["elements"]): Type {
  const fields = elements.map(({ type, optional }, i): Field => {
    return { name: `item${i + 1}`, id: i + 1, type, optional, readonly: false, doc: "", tags: { id: i + 1 }, at };
  });
  return { kind: "inline", shape: { kind: "message", fields } };
}
