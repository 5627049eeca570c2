/** Shapes that are the same on both sides: those of named declarations, and those written in place, by the way to them. */
import { type ActorDeclaration, partsOf, type Shape, type Type, type TypeDeclaration } from "../model/index.js";
import type { EndpointPair, Pair } from "./comparison.js";
import { membersOf } from "./members.js";

/** Two shapes of one kind. */
export interface ShapePair extends Pair<Shape> {
  /** `Tree`, `Tree.meta`. */
  readonly place: string;
}

export function shapePairs(
  types: readonly Pair<TypeDeclaration>[],
  actors: readonly Pair<ActorDeclaration>[],
  endpoints: readonly EndpointPair[],
): readonly ShapePair[] {
  const found: ShapePair[] = [];
  for (const { older, newer } of types) pairShapes(newer.name, older.shape, newer.shape, found);
  for (const { older, newer } of actors) pairMembers(newer.name, older.args, newer.args, found);
  for (const { older, newer, actor } of endpoints) {
    const place = `${actor.name}.${newer.name}`;
    pairMembers(place, older.params, newer.params, found);
    if (older.result !== undefined && newer.result !== undefined) pairTypes(place, older.result, newer.result, found);
  }
  return found;
}

function pairShapes(place: string, older: Shape, newer: Shape, found: ShapePair[]): void {
  if (older.kind !== newer.kind) return;
  if (older.kind === "alias" && newer.kind === "alias") {
    pairTypes(place, older.type, newer.type, found);
    return;
  }
  found.push({ place, older, newer });
  pairMembers(place, membersOf(older), membersOf(newer), found);
}

interface Typed {
  readonly name: string;
  readonly id: number;
  readonly type?: Type;
}

function pairMembers(place: string, older: readonly Typed[], newer: readonly Typed[], found: ShapePair[]): void {
  const before = new Map(older.map((member) => [member.id, member]));
  for (const { name, id, type } of newer) {
    const was = before.get(id)?.type;
    if (was !== undefined && type !== undefined) pairTypes(`${place}.${name}`, was, type, found);
  }
}

/** Two types that are made alike are walked into part by part. */
function pairTypes(place: string, older: Type, newer: Type, found: ShapePair[]): void {
  if (older.kind === "inline" && newer.kind === "inline") pairShapes(place, older.shape, newer.shape, found);
  if (older.kind !== newer.kind || older.kind === "inline") return;
  const before = partsOf(older);
  for (const [i, part] of partsOf(newer).entries()) {
    const was = before[i];
    if (was !== undefined) pairTypes(place, was, part, found);
  }
}
