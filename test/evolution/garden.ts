/**
 * A small schema in which everything stands beside something that looks the same on the wire, and the changes that people make
 * of it: renames that say so, and replacements that do not.
 */
import type {
  EnumValue,
  Field,
  Schema,
  Shape,
  Tags,
  Type,
  TypeDeclaration,
  Variant,
} from "../../compiler/model/index.js";

type Random = () => number;

const at = { file: "schemas/a.ts", line: 1, column: 1 };
const keyOf = (name: string) => `schemas/a.ts#${name}`;
const ref = (name: string): Type => ({ kind: "ref", target: keyOf(name), args: [] });
const scalar = (name: "int32" | "string"): Type => ({ kind: "scalar", scalar: name });
const inline = (shape: Shape): Type => ({ kind: "inline", shape });

function field(name: string, type: Type, optional = false, tags: Tags = {}): Field {
  return { name, id: 0, type, optional, readonly: false, doc: "", tags, at };
}

function declare(name: string, shape: Shape): TypeDeclaration {
  return { key: keyOf(name), name, exported: true, doc: "", typeParameters: [], shape, at };
}

function value(name: string, is: string | number = name): EnumValue {
  return { name, value: is, id: 0, doc: "", at };
}

const literals = (...names: string[]): Shape => ({
  kind: "enum",
  origin: "literals",
  values: names.map((name) => value(name)),
});
const numbers = (names: Readonly<Record<string, number>>): Shape => {
  return { kind: "enum", origin: "enum", values: Object.entries(names).map(([name, number]) => value(name, number)) };
};
const message = (...fields: Field[]): Shape => ({ kind: "message", fields });
const union = (...tags: string[]): Shape => ({
  kind: "union",
  discriminant: "kind",
  variants: tags.map((tag): Variant => ({ tag, id: 0, type: inline(message(field("n", scalar("int32")))), at })),
});
const oneof = (...cases: Field[]): Shape => ({ kind: "oneof", cases });

/** What stands in a member: each of a list may be put in the place of each other. */
const places: readonly (readonly Type[])[] = [
  [ref("Color"), ref("Size"), inline(literals("red", "green")), inline(literals("small", "large"))],
  [ref("Level"), ref("Grade"), scalar("int32"), { kind: "wellKnown", name: "NullValue" }],
  [ref("Left"), ref("Right"), inline(message(field("a", scalar("int32")), field("b", scalar("int32"))))],
  [ref("Move"), ref("Turn")],
  [ref("Kind")],
];

/** Of names that tell what they were: `redX1` is a rename of `red`. */
export function originalName(name: string): string {
  return name.replace(/X\d+/g, "");
}

/** Without ids. */
export function garden(random: Random): Schema {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const flat = random() < 0.5;
  const holder = message(
    ...places.map((types, i) => field(`m${i}`, pick(types), random() < 0.5)),
    field("list", { kind: "array", element: pick(places[0] as Type[]), readonly: false }),
    field(
      "reach",
      inline(
        oneof(
          field("mail", scalar("string"), false, flat ? { id: 101 } : {}),
          field("phone", scalar("int32"), false, flat ? { id: 102 } : {}),
        ),
      ),
      random() < 0.7,
    ),
    field("at", {
      kind: "tuple",
      elements: ["x", "y"].map((name) => ({ name, type: scalar("int32"), optional: false })),
      readonly: false,
    }),
  );
  const types = [
    declare("Color", literals("red", "green")),
    declare("Size", literals("small", "large")),
    declare("Kind", { kind: "enum", origin: "enum", values: [value("Oak", "oak"), value("Fir", "fir")] }),
    declare("Level", numbers({ Low: 1, High: 2 })),
    declare("Grade", numbers({ Good: 1, Bad: 2 })),
    declare("Left", message(field("a", scalar("int32")), field("b", scalar("int32")))),
    declare("Right", message(field("c", scalar("int32")), field("d", scalar("int32")))),
    declare("Move", union("go", "stop")),
    declare("Turn", union("left", "right")),
    declare("Holder", holder),
  ];
  const parameters = ["by", "to"].map((name) => ({ name, id: 0, type: scalar("int32"), optional: false, at }));
  const actor: Schema["modules"][number]["actors"][number] = {
    ...{ key: keyOf("Gardener"), name: "Gardener", id: 0, doc: "", extends: [], args: [], at },
    endpoints: [
      {
        ...{ name: "plant", id: 0, doc: "", tags: {}, at, stream: false, params: parameters },
        options: { concurrent: false, idempotent: false, respond: false },
      },
    ],
  };
  return { package: "p", modules: [{ path: "schemas/a.ts", types, actors: [actor], tasks: [] }] };
}

/**
 * @param schema without ids
 * @param documented whether nothing but renames with `@was` and other orders may happen, which hurt no data
 */
export function tend(schema: Schema, random: Random, documented: boolean): Schema {
  return new Gardening(random, documented).schema(schema);
}

class Gardening {
  readonly #random: Random;
  readonly #documented: boolean;
  readonly #rate: number;
  #fresh = 0;

  constructor(random: Random, documented: boolean) {
    this.#random = random;
    this.#documented = documented;
    this.#rate = random() < 0.5 ? 0.03 : 0.1;
  }

  schema(schema: Schema): Schema {
    const modules = schema.modules.map((module) => ({
      ...module,
      types: module.types.map((type) => ({ ...type, shape: this.#shape(type.shape) })),
      actors: module.actors.map((actor) => ({
        ...actor,
        endpoints: actor.endpoints.map((endpoint) => ({
          ...endpoint,
          params: endpoint.params.map((parameter) =>
            this.#harmful() ? { ...parameter, name: `p${this.#fresh++}` } : parameter,
          ),
        })),
      })),
    }));
    return this.#documented ? { ...schema, modules } : this.#renameTypes({ ...schema, modules });
  }

  /** A type that is renamed has new ids, in the order that its members have then. */
  #renameTypes(schema: Schema): Schema {
    let text = JSON.stringify(schema);
    for (const name of ["Color", "Level", "Left", "Move"]) {
      if (!this.#chance(this.#rate)) continue;
      const renamed = `${name}X${this.#fresh++}`;
      text = text
        .replaceAll(`#${name}"`, `#${renamed}"`)
        .replaceAll(`"name":"${name}","exported"`, `"name":"${renamed}","exported"`);
    }
    return JSON.parse(text) as Schema;
  }

  #shape(shape: Shape): Shape {
    switch (shape.kind) {
      case "alias":
        return shape;
      case "message":
        return { ...shape, fields: this.#order(shape.fields.map((one) => this.#field(one))) };
      case "oneof": {
        const cases = shape.cases.map((one) => this.#field(one));
        if (!this.#harmful()) return { ...shape, cases };
        const isFlat = cases.every(({ tags }) => tags.id !== undefined);
        const withId = (tags: Tags, i: number): Tags => {
          const { id: _, ...others } = tags;
          return isFlat ? others : { ...others, id: i + 1 };
        };
        return { ...shape, cases: cases.map((one, i) => ({ ...one, tags: withId(one.tags, i) })) };
      }
      case "union":
        return { ...shape, variants: this.#order(shape.variants) };
      case "enum":
        return { ...shape, values: this.#values(shape) };
    }
  }

  #field(one: Field): Field {
    const type = this.#type(one.type);
    if (!this.#chance(this.#rate)) return { ...one, type };
    return { ...one, type, name: this.#renamed(one.name), tags: { ...one.tags, was: one.name } };
  }

  #values({ values, origin }: Extract<Shape, { kind: "enum" }>): readonly EnumValue[] {
    if (origin === "literals") return this.#order(values);
    return this.#order(
      values.map((one) => {
        const isNumber = typeof one.value === "number";
        if (this.#chance(this.#rate)) return { ...one, name: this.#renamed(one.name), tags: { was: one.name } };
        if (!this.#harmful()) return one;
        return isNumber ? { ...one, name: `New${this.#fresh++}` } : { ...one, value: `new${this.#fresh++}` };
      }),
    );
  }

  #type(type: Type): Type {
    const others = places.find((types) => types.some((one) => JSON.stringify(one) === JSON.stringify(type)));
    if (others !== undefined && this.#harmful()) return others[Math.floor(this.#random() * others.length)] as Type;
    if (type.kind === "array") return { ...type, element: this.#type(type.element) };
    if (type.kind === "inline") return { ...type, shape: this.#shape(type.shape) };
    if (type.kind === "tuple" && this.#harmful()) return { ...type, elements: [...type.elements].reverse() };
    return type;
  }

  #order<T>(list: readonly T[]): readonly T[] {
    return this.#chance(this.#rate) ? [...list].reverse() : list;
  }

  #renamed(name: string): string {
    return `${name}X${this.#fresh++}`;
  }

  #harmful(): boolean {
    return !this.#documented && this.#chance(this.#rate);
  }

  #chance(probability: number): boolean {
    return this.#random() < probability;
  }
}
