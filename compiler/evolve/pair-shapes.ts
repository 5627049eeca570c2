/**
 * Pairs the shapes of two schemas: those of named declarations, and inline ones by the path to them. It pairs tuples
 * too, although they have no members with ids.
 */

import type { Pair } from "../../shared/evolution/pair.js";
import {
  type ActorDeclaration,
  type Position,
  partsOf,
  type Shape,
  type TaskDeclaration,
  type Type,
  type TypeDeclaration,
} from "../model/index.js";
import { withoutNull } from "./absence.js";
import type { EndpointPair } from "./endpoint-pair.js";
import { membersOf } from "./shape-members.js";

/** Two shapes of one kind. */
export interface ShapePair extends Pair<Shape> {
  /** The path of the shape: `Tree`, `Tree.meta`. */
  readonly place: string;
}

type Tuple = Extract<Type, { kind: "tuple" }>;

export interface TuplePair extends Pair<Tuple> {
  /** The path of the tuple: `Path.corners`. */
  readonly place: string;
  /** The position, in the newer schema, of the member that contains the tuple. */
  readonly at: Position;
}

/** The types of one member, parameter, result or alias. */
export interface TypePair extends Pair<Type> {
  /** The position of the member in the newer schema. */
  readonly at: Position;
}

export interface ShapePairs {
  readonly shapes: readonly ShapePair[];
  readonly tuples: readonly TuplePair[];
  readonly types: readonly TypePair[];
}

export function pairShapes(
  types: readonly Pair<TypeDeclaration>[],
  actors: readonly Pair<ActorDeclaration>[],
  endpoints: readonly EndpointPair[],
  tasks: readonly Pair<TaskDeclaration>[],
): ShapePairs {
  const walk = new ShapePairing();
  for (const { older, newer } of types) walk.declaration(older, newer);
  for (const { older, newer } of actors) walk.members(newer.name, older.args, newer.args);
  for (const { older, newer, actor } of endpoints) {
    const place = `${actor.name}.${newer.name}`;
    walk.members(place, older.params, newer.params);
    if (older.result !== undefined && newer.result !== undefined)
      walk.pairTypes(place, older.result, newer.result, newer.at);
  }
  for (const { older, newer } of tasks) {
    walk.members(newer.name, older.args, newer.args);
    if (older.result !== undefined && newer.result !== undefined)
      walk.pairTypes(newer.name, older.result, newer.result, newer.at);
  }
  return walk.found;
}

interface TypedMember {
  readonly name: string;
  readonly id: number;
  readonly type?: Type;
  readonly at: Position;
}

class ShapePairing {
  readonly found = { shapes: [] as ShapePair[], tuples: [] as TuplePair[], types: [] as TypePair[] };

  declaration(older: TypeDeclaration, newer: TypeDeclaration): void {
    if (older.shape.kind === "alias" && newer.shape.kind === "alias")
      this.pairTypes(newer.name, older.shape.type, newer.shape.type, newer.at);
    else this.#shapes(newer.name, older.shape, newer.shape);
  }

  #shapes(place: string, older: Shape, newer: Shape): void {
    if (older.kind !== newer.kind) return;
    this.found.shapes.push({ place, older, newer });
    this.members(place, membersOf(older), membersOf(newer));
  }

  members(place: string, older: readonly TypedMember[], newer: readonly TypedMember[]): void {
    const before = new Map(older.map((member) => [member.id, member]));
    for (const { name, id, type, at } of newer) {
      const was = before.get(id)?.type;
      if (was !== undefined && type !== undefined) this.pairTypes(`${place}.${name}`, was, type, at);
    }
  }

  /** Pairs the types of a member or an alias, and everything inside them. */
  pairTypes(place: string, older: Type, newer: Type, at: Position): void {
    this.found.types.push({ older, newer, at });
    this.#types(place, older, newer, at);
  }

  /** Pairs the parts of two types of the same kind. `null` on either side is ignored. */
  #types(place: string, olderType: Type, newerType: Type, at: Position): void {
    const [older, newer] = [withoutNull(olderType), withoutNull(newerType)];
    if (older.kind === "inline" && newer.kind === "inline") this.#shapes(place, older.shape, newer.shape);
    if (older.kind === "tuple" && newer.kind === "tuple") this.found.tuples.push({ place, older, newer, at });
    if (older.kind !== newer.kind || older.kind === "inline") return;
    const before = partsOf(older);
    for (const [i, part] of partsOf(newer).entries()) {
      const was = before[i];
      if (was !== undefined) this.#types(place, was, part, at);
    }
  }
}
