/**
 * What was emitted for each schema file, for as long as the compiler watches: a file is emitted again when its own model
 * differs, or something of another file that its text depends on. Fingerprints depend on much more than that; when
 * nothing else differs, they are put into the text that is there.
 */
import type { Fingerprints } from "../../model/fingerprint.js";
import type { Module } from "../../model/index.js";
import { partsOf, partsOfShape, textOf, typesOf } from "../../model/resolve.js";
import type { DeclarationKey, Shape, Type } from "../../model/type.js";
import { enumsIn } from "../../protobuf/enum-names.js";
import { hex64 } from "../kit/index.js";
import { layoutsOf } from "./codec/index.js";
import type { EmitContext } from "./context.js";

/** A fingerprint that a text was made with, and how it is found again. */
interface Asked {
  readonly hex: string;
  readonly again: (fingerprints: Fingerprints, module: Module) => bigint;
}

interface Remembered {
  readonly packageName: string;
  /** Of enums that are written in place: they depend on what else has names. */
  readonly enumNames: string;
  /** The same object as long as nothing in it differs. */
  readonly module: Module;
  /** Of other files, and the module's own: what its text depends on. */
  readonly facts: ReadonlyMap<DeclarationKey, string>;
  readonly text: string;
  readonly asked: readonly Asked[];
}

export class EmitMemory {
  readonly #known = new Map<string, Remembered>();
  readonly #layouts = new Map<bigint, string>();

  /** The text of a module: remembered, or emitted with the context that is handed to `emit`. */
  text(module: Module, context: EmitContext, emit: (context: EmitContext) => string): string {
    const facts = new Facts(context, this.#layouts);
    const known = this.#known.get(module.path);
    const packageName = context.schema.package;
    const enumNames = enumNamesOf(module, context);
    const isSame = known?.module === module && known.packageName === packageName && known.enumNames === enumNames;
    if (isSame && facts.areStill(known.facts)) {
      const text = withFingerprints(known, context.fingerprints, module);
      if (text !== undefined) return text;
    }
    const asked: Asked[] = [];
    const text = emit({ ...context, fingerprints: recorded(context.fingerprints, module, asked) });
    this.#known.set(module.path, { packageName, enumNames, module, facts: facts.of(module), text, asked });
    return text;
  }
}

function enumNamesOf(module: Module, context: EmitContext): string {
  return enumsIn(module)
    .map((shape) => context.enumName(shape) ?? "")
    .join(" ");
}

function recorded(fingerprints: Fingerprints, module: Module, asked: Asked[]): Fingerprints {
  const ask = (again: Asked["again"]): bigint => {
    const value = again(fingerprints, module);
    asked.push({ hex: digits(value), again });
    return value;
  };
  return {
    type: (type) => ask((current) => current.type(type)),
    declaration: (key) => ask((current) => current.declaration(key)),
    transparent: (key) => fingerprints.transparent(key),
    actor: (key) => ask((current) => current.actor(key)),
    module: () => ask((current, now) => current.module(now)),
  };
}

function digits(fingerprint: bigint): string {
  return hex64(fingerprint).replace(/n$/, "");
}

/** Undefined: two that were equal are so no longer, and the text does not tell which is which. */
function withFingerprints({ text, asked }: Remembered, fingerprints: Fingerprints, module: Module): string | undefined {
  const changes = new Map<string, string>();
  let isSame = true;
  for (const { hex, again } of asked) {
    const now = digits(again(fingerprints, module));
    const before = changes.get(hex) ?? now;
    if (before !== now) return undefined;
    if (now !== hex) isSame = false;
    changes.set(hex, now);
  }
  return isSame ? text : text.replace(/\b0x[0-9a-f]{16}/g, (hex) => changes.get(hex) ?? hex);
}

/** What the texts of modules depend on, but for fingerprints. */
class Facts {
  readonly #context: EmitContext;
  /** By fingerprints of types: what is equal is laid out in the same way. */
  readonly #layouts: Map<bigint, string>;

  constructor(context: EmitContext, layouts: Map<bigint, string>) {
    this.#context = context;
    this.#layouts = layouts;
  }

  areStill(facts: ReadonlyMap<DeclarationKey, string>): boolean {
    const { index } = this.#context;
    for (const [key, fact] of facts) if (!index.has(key) || this.#fact(key) !== fact) return false;
    return true;
  }

  /** All that a module depends on: what it declares, what it refers to, and what that is an alias of. */
  of(module: Module): ReadonlyMap<DeclarationKey, string> {
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
    for (const { key } of module.types) note(key);
    typesOf(module).forEach(visit);
    for (const actor of module.actors) actor.extends.forEach(noteActor);
    return found;
  }

  #fact(key: DeclarationKey): string {
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
