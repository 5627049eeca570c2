/**
 * Names that two things in one generated file would have: a type `CounterMesh` beside an actor `Counter`. Their names
 * are promised to users, so that none of them can give way; the schema has to.
 */
import type { Module, Schema, TypeDeclaration } from "../../model/index.js";
import type { Position } from "../../model/type.js";
import { createContext, type EmitContext } from "./emit-context.js";
import { isEnumeration, rootsOf } from "./emit-namespace.js";

export interface NameClash {
  /** The name, or the path of the generated file, that is wanted twice. */
  readonly name: string;
  /** What wants it: "the mesh type of actor Counter". */
  readonly first: string;
  readonly second: string;
  /** The declaration of the second one. */
  readonly at: Position;
}

/** All clashes of a schema, in the order of its files and declarations. */
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
  /** Types and values have names of their own. */
  readonly space: "type" | "value" | "both";
  readonly at: Position;
}

/** Modules do not change, and whoever watches asks again and again. */
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

/** A type and a namespace can share a name; a namespace with enumerations is a value too. */
function claimsOfRoot(name: string, types: readonly TypeDeclaration[]): readonly NameClaim[] {
  const namesake = types.find((type) => type.name === name);
  const first = namesake ?? types[0];
  if (first === undefined) return [];
  const by = namesake === undefined ? `namespace ${name}` : `type ${name}`;
  return [{ name, claimant: by, space: types.some(isEnumeration) ? "both" : "type", at: first.at }];
}

/** What the generated file of `module` declares: first what the user named, then what is derived from that. */
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
  return [...types, ...codecs, ...actors];
}
