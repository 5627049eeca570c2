/**
 * What was emitted for each schema file, for as long as the compiler watches: a file is emitted again when its own model
 * differs, or something of another file that its text depends on. Fingerprints depend on much more than that; when
 * nothing else differs, they are put into the text that is there.
 */
import type { Fingerprints } from "../../model/fingerprint.js";
import type { Module } from "../../model/index.js";
import { partsOf, partsOfShape, typesOf } from "../../model/resolve.js";
import type { DeclarationKey, Type } from "../../model/type.js";
import { hex64 } from "../kit/index.js";
import { layoutsOf } from "./codec/index.js";
import type { EmitContext } from "./context.js";

/** A fingerprint that a text was made with, and how it is found again. */
interface Asked {
  readonly hex: string;
  readonly again: (fingerprints: Fingerprints, module: Module) => bigint;
}

interface Remembered {
  readonly dependencies: string;
  readonly text: string;
  readonly asked: readonly Asked[];
}

export class EmitMemory {
  readonly #known = new Map<string, Remembered>();

  /** The text of a module: remembered, or emitted with the context that is handed to `emit`. */
  text(module: Module, context: EmitContext, emit: (context: EmitContext) => string): string {
    const dependencies = dependenciesOf(module, context);
    const known = this.#known.get(module.path);
    if (known?.dependencies === dependencies) {
      const text = withFingerprints(known, context.fingerprints, module);
      if (text !== undefined) return text;
    }
    const asked: Asked[] = [];
    const text = emit({ ...context, fingerprints: recorded(context.fingerprints, module, asked) });
    this.#known.set(module.path, { dependencies, text, asked });
    return text;
  }
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

/** All that the text of a module depends on, but for fingerprints. */
function dependenciesOf(module: Module, context: EmitContext): string {
  const { index } = context;
  const own = new Set(module.types.map(({ key }) => key));
  const referred = new Map<DeclarationKey, unknown>();
  const note = (key: DeclarationKey): void => {
    if (referred.has(key)) return;
    const { name, shape, typeParameters } = index.type(key);
    const facts = [context.fileOf(index.moduleOf(key)), context.exported(key), ...layoutFacts(key, context)];
    referred.set(key, own.has(key) ? facts : [facts, name, typeParameters, JSON.stringify(shape, withoutPlaces)]);
    // Aliases are looked through; generic ones are instantiated where they are referred to.
    if (shape.kind === "alias" || typeParameters.length > 0) partsOfShape(shape).forEach(visit);
  };
  const visit = (type: Type): void => {
    if (type.kind === "ref") note(type.target);
    if (type.kind === "mesh") noteActor(type.actor);
    partsOf(type).forEach(visit);
  };
  const noteActor = (key: DeclarationKey): void => {
    referred.set(key, [context.fileOf(index.moduleOf(key)), index.actor(key).name]);
  };
  for (const { key } of module.types) note(key);
  typesOf(module).forEach(visit);
  for (const actor of module.actors) actor.extends.forEach(noteActor);
  return JSON.stringify([context.schema.package, context.fileOf(module), module, [...referred]]);
}

/** Positions and comments of what is referred to do not matter. */
function withoutPlaces(name: string, value: unknown): unknown {
  return name === "at" || name === "doc" ? undefined : value;
}

function layoutFacts(key: DeclarationKey, { index, fingerprints }: EmitContext): readonly unknown[] {
  const transparent = fingerprints.transparent(key);
  if (index.type(key).typeParameters.length > 0) return [transparent];
  const layouts = layoutsOf(index);
  const { core, nullable } = layouts.peel({ kind: "ref", target: key, args: [] });
  return [transparent, nullable, layouts.slot(core), layouts.text(core), layouts.bulk(core), layouts.recursive(core)];
}
