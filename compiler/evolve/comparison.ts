/**
 * Compares two states of a project's schemas and pairs what corresponds. Types and tasks are paired by their keys, or by
 * their names if their file has moved; actors, endpoints and members are paired by their ids.
 */

import type { Pair } from "../../shared/evolution/pair.js";
import { simpleName } from "../../shared/names/qualified-name.js";
import type { CapnpFile } from "../capnp/capnp-schema.js";
import type { Lock } from "../lock/index.js";
import { declarationName, typeText } from "../lock/type-text.js";
import {
  type ActorDeclaration,
  type DeclarationKey,
  indexSchema,
  type Schema,
  type SchemaIndex,
  type TaskDeclaration,
  type Type,
  type TypeDeclaration,
} from "../model/index.js";
import type { LoweredSchema } from "../protobuf/lower/lowered-schema.js";
import type { EndpointPair } from "./endpoint-pair.js";
import { pairShapes, type ShapePair, type TuplePair, type TypePair } from "./pair-shapes.js";
import { membersOf, type ShapeMember } from "./shape-members.js";

export interface SchemaState {
  /** The schema, with ids. */
  readonly schema: Schema;
  /** The lock that matches the schema, with the line numbers of its file. */
  readonly lock: Lock;
  /** The path of the lock. */
  readonly lockFile: string;
  /** The schema in the protobuf layout. */
  readonly lowered: LoweredSchema;
  /** The schema in Cap'n Proto, if the project emits it. */
  readonly capnp?: readonly CapnpFile[];
}

export interface StateComparison {
  readonly states: Pair<SchemaState>;
  readonly indexes: Pair<SchemaIndex>;
  readonly types: readonly Pair<TypeDeclaration>[];
  /** Writes a type of the older side as the lock would, but with the names that declarations have now. */
  readonly currentTypeText: (type: Type) => string;
  /** Declarations that the newer side does not have. */
  readonly removedTypes: readonly TypeDeclaration[];
  readonly actors: readonly Pair<ActorDeclaration>[];
  readonly tasks: readonly Pair<TaskDeclaration>[];
  /** Tasks that the newer side does not have. */
  readonly removedTasks: readonly TaskDeclaration[];
  /** Endpoints of actors that both sides have, if both have the endpoint. */
  readonly endpoints: readonly EndpointPair[];
  /** Shapes of the same kind on both sides, of named declarations and inline types. */
  readonly shapes: readonly ShapePair[];
  /** Tuples in places where both sides have a tuple. */
  readonly tuples: readonly TuplePair[];
  /** Types of aliases, members, parameters and results, as they are written. */
  readonly typePairs: readonly TypePair[];
}

export function compareStates(older: SchemaState, newer: SchemaState): StateComparison {
  const before = older.schema.modules.flatMap(({ types }) => types);
  const after = newer.schema.modules.flatMap(({ types }) => types);
  const types = pairByName(before, after);
  const moved = new Map(
    types.filter(({ older, newer }) => older.name !== newer.name).map(({ older, newer }) => [older.key, newer.name]),
  );
  const paired = new Set(types.map((pair) => pair.older));
  const actors = pairActors(older.schema, newer.schema);
  const endpoints = actors.flatMap((pair) => pairEndpoints(pair));
  const tasksBefore = older.schema.modules.flatMap(({ tasks }) => tasks);
  const tasks = pairByName(
    tasksBefore,
    newer.schema.modules.flatMap((module) => module.tasks),
  );
  const pairedTasks = new Set(tasks.map((pair) => pair.older));
  const pairs = pairShapes(types, actors, endpoints, tasks);
  return {
    states: { older, newer },
    indexes: { older: indexSchema(older.schema), newer: indexSchema(newer.schema) },
    types,
    currentTypeText: (type) => typeText(type, (key) => moved.get(key) ?? declarationName(key)),
    removedTypes: before.filter((type) => !paired.has(type)),
    actors,
    tasks,
    removedTasks: tasksBefore.filter((task) => !pairedTasks.has(task)),
    endpoints,
    shapes: pairs.shapes,
    tuples: pairs.tuples,
    typePairs: pairs.types,
  };
}

/**
 * Pairs declarations. A declaration whose file has moved is paired by its name, and one that has moved to another
 * namespace of its file by its simple name. Either way, the name must be unique among the new and among the removed
 * declarations.
 */
function pairByName<D extends Pick<TypeDeclaration, "key" | "name">>(
  before: readonly D[],
  after: readonly D[],
): Pair<D>[] {
  const keys = new Map(after.map((type) => [type.key, type]));
  const olderKeys = new Set(before.map(({ key }) => key));
  const moved = after.filter(({ key }) => !olderKeys.has(key));
  const gone = before.filter(({ key }) => !keys.has(key));
  /** Returns the new declaration that `isLike` accepts, if it accepts exactly one new and one removed declaration. */
  const only = (isLike: (other: D) => boolean): D | undefined => {
    const candidates = moved.filter(isLike);
    return candidates.length === 1 && gone.filter(isLike).length === 1 ? candidates[0] : undefined;
  };
  return before.flatMap((older) => {
    const here = keys.get(older.key);
    if (here !== undefined) return [{ older, newer: here }];
    const newer =
      only(({ name }) => name === older.name) ??
      only(({ name, key }) => simpleName(name) === simpleName(older.name) && fileOf(key) === fileOf(older.key));
    return newer ? [{ older, newer }] : [];
  });
}

function fileOf(key: DeclarationKey): string {
  return key.slice(0, key.lastIndexOf("#"));
}

function pairActors(older: Schema, newer: Schema): Pair<ActorDeclaration>[] {
  const after = new Map(newer.modules.flatMap(({ actors }) => actors).map((actor) => [actor.id, actor]));
  return older.modules
    .flatMap(({ actors }) => actors)
    .flatMap((actor) => {
      const now = after.get(actor.id);
      return now === undefined ? [] : [{ older: actor, newer: now }];
    });
}

function pairEndpoints({ older, newer }: Pair<ActorDeclaration>): EndpointPair[] {
  const after = new Map(newer.endpoints.map((endpoint) => [endpoint.id, endpoint]));
  return older.endpoints.flatMap((endpoint) => {
    const now = after.get(endpoint.id);
    return now === undefined ? [] : [{ older: endpoint, newer: now, actor: newer }];
  });
}

export interface MemberComparison {
  /**
   * Members that are the same in TypeScript: those with the same name, whatever their ids, and renamed ones, which have
   * the same id.
   */
  readonly pairs: readonly Pair<ShapeMember>[];
  /** Members that only one side has, by name and by id. */
  readonly added: readonly ShapeMember[];
  readonly removed: readonly ShapeMember[];
}

export function compareMembers({ older, newer }: ShapePair): MemberComparison {
  const before = membersOf(older);
  const after = membersOf(newer);
  const names = new Set(after.map(({ name }) => name));
  const pairs = after.flatMap((member) => {
    const renamed = ({ name, id }: ShapeMember) => id === member.id && !names.has(name);
    const same = before.find(({ name }) => name === member.name) ?? before.find(renamed);
    return same === undefined ? [] : [{ older: same, newer: member }];
  });
  const known = new Set(pairs.flatMap((pair) => [pair.older, pair.newer]));
  return {
    pairs,
    added: after.filter((member) => !known.has(member)),
    removed: before.filter((member) => !known.has(member)),
  };
}
