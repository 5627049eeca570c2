/**
 * What the text of declarations depends on beside themselves: of what they refer to, its name and place, how it is laid
 * out, whether it is exported. Not fingerprints, which depend on much more.
 */
import type { Module } from "../../model/index.js";
import { partsOf, partsOfShape, textOf, typesOf } from "../../model/resolve.js";
import type { DeclarationKey, Shape, Type } from "../../model/type.js";
import { layoutsOf } from "./codec/index.js";
import type { EmitContext } from "./context.js";

/** A schema file, or some of its declarations. */
export type Declarations = Pick<Module, "types" | "actors">;

/** Of one schema. */
export class Facts {
  readonly #context: EmitContext;
  /** By fingerprints of types: what is equal is laid out in the same way. */
  readonly #layouts: Map<bigint, string>;
  readonly #known = new Map<DeclarationKey, string>();

  constructor(context: EmitContext, layouts: Map<bigint, string>) {
    this.#context = context;
    this.#layouts = layouts;
  }

  areStill(facts: ReadonlyMap<DeclarationKey, string>): boolean {
    const { index } = this.#context;
    for (const [key, fact] of facts) if (!index.has(key) || this.#fact(key) !== fact) return false;
    return true;
  }

  /** All that declarations depend on: they themselves, what they refer to, and what that is an alias of. */
  of(declarations: Declarations): ReadonlyMap<DeclarationKey, string> {
    const { index } = this.#context;
    const found = new Map<DeclarationKey, string>();
    const note = (key: DeclarationKey): void => {
      if (found.has(key)) return;
      found.set(key, this.#fact(key));
      const { shape, typeParameters } = index.type(key);
      // Aliases are looked through; generic ones are instantiated where they are referred to.
      if (shape.kind === "alias" || typeParameters.length > 0) partsOfShape(shape).forEach(visit);
    };
    const noteActor = (key: DeclarationKey): void => void found.set(key, this.#fact(key));
    const visit = (type: Type): void => {
      if (type.kind === "ref") note(type.target);
      if (type.kind === "mesh") noteActor(type.actor);
      partsOf(type).forEach(visit);
    };
    for (const { key } of declarations.types) note(key);
    typesOf(declarations).forEach(visit);
    for (const actor of declarations.actors) actor.extends.forEach(noteActor);
    return found;
  }

  #fact(key: DeclarationKey): string {
    let fact = this.#known.get(key);
    if (fact === undefined) {
      fact = this.#find(key);
      this.#known.set(key, fact);
    }
    return fact;
  }

  #find(key: DeclarationKey): string {
    const { index, exported, fileOf } = this.#context;
    const module = index.moduleOf(key);
    const file = fileOf(module);
    const actor = module.actors.find((declaration) => declaration.key === key);
    if (actor !== undefined) return `${file} ${actor.name}`;
    const { name, typeParameters, shape } = index.type(key);
    const named = `${file} ${name} ${exported(key)}`;
    if (typeParameters.length > 0) return `${named} ${typeParameters.join(",")} ${shapeText(shape)}`;
    // Who refers to a message needs to know how it is laid out, and whether it has the discriminant of a union.
    const inside = shape.kind === "message" ? tagNames(shape) : shapeText(shape);
    return `${named} ${this.#layout(key)} ${inside}`;
  }

  #layout(key: DeclarationKey): string {
    const { index, fingerprints } = this.#context;
    const fingerprint = fingerprints.declaration(key);
    let layout = this.#layouts.get(fingerprint);
    if (layout === undefined) {
      const layouts = layoutsOf(index);
      const { core, nullable } = layouts.peel({ kind: "ref", target: key, args: [] });
      const holds = [layouts.text(core), layouts.bulk(core), layouts.recursive(core)];
      layout = [nullable, layouts.slot(core), ...holds].join(",");
      this.#layouts.set(fingerprint, layout);
    }
    return `${fingerprints.transparent(key)},${layout}`;
  }
}

/** The fields that may be discriminants: those that are no plain value. */
function tagNames({ fields }: Extract<Shape, { kind: "message" }>): string {
  const tags = fields.filter(({ type }) => type.kind === "inline" || type.kind === "ref");
  return `message ${JSON.stringify(tags.map(({ name }) => name))}`;
}

/** Positions and comments of what is referred to do not matter. */
function shapeText(shape: Shape): string {
  let text = shapeTexts.get(shape);
  if (text === undefined) {
    text = textOf(shape);
    shapeTexts.set(shape, text);
  }
  return text;
}

const shapeTexts = new WeakMap<Shape, string>();
