/**
 * Finds names that two declarations would have in one generated file: a type `CounterMesh` beside an actor `Counter`.
 * Both names are public, so the emitter cannot change one of them. The schema must change.
 */
import type { Module, Schema, TypeDeclaration } from "../../model/index.js";
import type { Position } from "../../model/type.js";
import { createContext, type EmitContext } from "./emit-context.js";
import { isEnumeration, rootsOf } from "./emit-namespace.js";

export interface NameClash {
  /** The name, or the path of the generated file, that is used twice. */
  readonly name: string;
  /** A description of the first use: "the mesh type of actor Counter". */
  readonly first: string;
  readonly second: string;
  /** The position of the declaration of the second use. */
  readonly at: Position;
}

/** Returns all clashes of a schema, in the order of its files and declarations. */
export function findClashes(schema: Schema, schemaRoot: string): readonly NameClash[] {
  const context = createContext(schema, schemaRoot);
  return [...clashesOfFiles(schema, context), ...schema.modules.flatMap((module) => clashesOfNames(module, context))];
}

function clashesOfFiles(schema: Schema, context: EmitContext): readonly NameClash[] {
  const owners = new Map([["registry.ts", "the registry of actors"]]);
  const clashes: NameClash[] = [];
  for (const module of schema.modules) {
    const name = context.fileOf(module);
    const second = module.path;
    const first = owners.get(name);
    if (first === undefined) owners.set(name, second);
    else clashes.push({ name, first, second, at: { file: module.path, line: 1, column: 1 } });
  }
  return clashes;
}

interface NameClaim {
  readonly name: string;
  readonly claimant: string;
  /** Types and values have separate name spaces. */
  readonly space: "type" | "value" | "both";
  readonly at: Position;
}

/** Cached, because modules are immutable and watch mode asks after every edit. */
const clashesByModule = new WeakMap<Module, readonly NameClash[]>();

function clashesOfNames(module: Module, context: EmitContext): readonly NameClash[] {
  let clashes = clashesByModule.get(module);
  if (clashes === undefined) {
    clashes = findNameClashes(module, context);
    clashesByModule.set(module, clashes);
  }
  return clashes;
}

function findNameClashes(module: Module, context: EmitContext): readonly NameClash[] {
  const owners = new Map<string, string>();
  const clashes: NameClash[] = [];
  for (const { name, claimant: by, space, at } of nameClaims(module, context)) {
    const places = (space === "both" ? ["type", "value"] : [space]).map((place) => `${place} ${name}`);
    const first = places.map((place) => owners.get(place)).find((owner) => owner !== undefined);
    if (first !== undefined) clashes.push({ name, first, second: by, at });
    for (const place of places) owners.set(place, first ?? by);
  }
  return clashes;
}

/**
 * Returns the names that a root declares. A type and a namespace can share a name. A namespace with enumerations is a
 * value, too.
 */
function claimsOfRoot(name: string, types: readonly TypeDeclaration[]): readonly NameClaim[] {
  const namesake = types.find((type) => type.name === name);
  const first = namesake ?? types[0];
  if (first === undefined) return [];
  const by = namesake === undefined ? `namespace ${name}` : `type ${name}`;
  return [{ name, claimant: by, space: types.some(isEnumeration) ? "both" : "type", at: first.at }];
}

/**
 * Returns the names that the generated file of `module` declares: first the names of the user, then the derived names.
 */
function nameClaims(module: Module, context: EmitContext): readonly NameClaim[] {
  const types = rootsOf(module.types).flatMap(({ name, types: inside }) => claimsOfRoot(name, inside));
  const codecs = module.types.map(
    ({ key, name, at }): NameClaim => ({
      name: context.codec(key).name,
      claimant: `the codec of ${name}`,
      space: "value",
      at,
    }),
  );
  const actors = module.actors.flatMap(({ key, name, at }): readonly NameClaim[] => [
    { name: context.actorClass(key).name, claimant: `the base class of actor ${name}`, space: "both", at },
    { name: context.mesh(key).name, claimant: `the mesh type of actor ${name}`, space: "type", at },
    { name: context.meshKind(key).name, claimant: `the mesh kind of actor ${name}`, space: "type", at },
    { name: context.descriptor(key).name, claimant: `the descriptor of actor ${name}`, space: "value", at },
  ]);
  const tasks = module.tasks.map(
    ({ key, name, at }): NameClaim => ({
      name: context.task(key).name,
      claimant: `the constant of task ${name}`,
      space: "value",
      at,
    }),
  );
  return [...types, ...codecs, ...actors, ...tasks];
}
