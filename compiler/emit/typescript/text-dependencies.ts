/**
 * Collects the properties of other declarations on which the text of a declaration depends: their names, files and
 * layouts, and whether they are exported. Fingerprints are not included, because they depend on much more.
 */
import { type DeclarationGroup, partsOf, partsOfShape, textOf, typesOf } from "../../model/resolve.js";
import type { DeclarationKey, Shape, Type } from "../../model/type.js";
import { flatFields } from "./codec/index.js";
import type { EmitContext } from "./emit-context.js";

/** The dependencies of the declarations of one schema. */
export class TextDependencies {
  readonly #context: EmitContext;
  readonly #layouts: ReadonlyMap<DeclarationKey, string>;
  readonly #known = new Map<DeclarationKey, string>();

  constructor(context: EmitContext, layouts: ReadonlyMap<DeclarationKey, string>) {
    this.#context = context;
    this.#layouts = layouts;
  }

  areUnchanged(facts: ReadonlyMap<DeclarationKey, string>): boolean {
    const { index } = this.#context;
    for (const [key, fact] of facts) if (!index.has(key) || this.#dependencyText(key) !== fact) return false;
    return true;
  }

  /**
   * Returns the properties of the declarations, of those to which they refer, and of those to which aliases and small
   * messages among these refer.
   */
  collect(declarations: DeclarationGroup): ReadonlyMap<DeclarationKey, string> {
    const { index } = this.#context;
    const found = new Map<DeclarationKey, string>();
    const note = (key: DeclarationKey): void => {
      if (found.has(key)) return;
      found.set(key, this.#dependencyText(key));
      const { shape, typeParameters } = index.type(key);
      // Aliases are replaced by their targets, generic types are instantiated where they are used, and small messages
      // are written and read there.
      if (shape.kind === "alias" || typeParameters.length > 0 || this.#isInlined(key))
        partsOfShape(shape).forEach(visit);
    };
    const noteActor = (key: DeclarationKey): void => void found.set(key, this.#dependencyText(key));
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

  #dependencyText(key: DeclarationKey): string {
    let fact = this.#known.get(key);
    if (fact === undefined) {
      fact = this.#describe(key);
      this.#known.set(key, fact);
    }
    return fact;
  }

  #describe(key: DeclarationKey): string {
    const { index, fingerprints, isExported: exported, fileOf } = this.#context;
    const module = index.moduleOf(key);
    const file = fileOf(module);
    const actor = module.actors.find((declaration) => declaration.key === key);
    if (actor !== undefined) return `${file} ${actor.name}`;
    const { name, typeParameters, shape } = index.type(key);
    const named = `${file} ${name} ${exported(key)}`;
    if (typeParameters.length > 0) return `${named} ${typeParameters.join(",")} ${shapeText(shape)}`;
    const text = this.#isInlined(key) ? shapeText(shape) : referredShapeText(shape);
    return `${named} ${fingerprints.transparent(key)},${this.#layouts.get(key)} ${text}`;
  }

  /** Returns whether the codecs of types that hold the message contain the code of its fields. */
  #isInlined(key: DeclarationKey): boolean {
    return flatFields({ kind: "ref", target: key, args: [] }, this.#context.index) !== undefined;
  }
}

/**
 * Returns the properties of a shape that matter to declarations that refer to it. For a message, these are the fields
 * that can be discriminants of a union.
 */
function referredShapeText(shape: Shape): string {
  if (shape.kind !== "message") return shapeText(shape);
  let text = tagTexts.get(shape);
  if (text === undefined) {
    text = tagNames(shape);
    tagTexts.set(shape, text);
  }
  return text;
}

const tagTexts = new WeakMap<Shape, string>();

/** Returns the fields that can be discriminants: those whose types are inline or declared. */
function tagNames({ fields }: Extract<Shape, { kind: "message" }>): string {
  const tags = fields.filter(({ type }) => type.kind === "inline" || type.kind === "ref");
  return `message ${JSON.stringify(tags.map(({ name }) => name))}`;
}

/** Returns the text of a shape, without positions and comments. */
function shapeText(shape: Shape): string {
  let text = shapeTexts.get(shape);
  if (text === undefined) {
    text = textOf(shape);
    shapeTexts.set(shape, text);
  }
  return text;
}

const shapeTexts = new WeakMap<Shape, string>();
