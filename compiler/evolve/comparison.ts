/**
 * Two states of a project's schemas, with what is the same in both brought together: declarations by their keys, or by their
 * names where a file has moved; actors, endpoints and members by their ids.
 */
import { simpleName } from "../../shared/names/qualified-name.js";
import type { CapnpFile } from "../capnp/capnp-schema.js";
import type { Lock } from "../lock/index.js";
import { declarationName, typeText } from "../lock/type-text.js";
import {
  type ActorDeclaration,
  type DeclarationKey,
  type Endpoint,
  indexSchema,
  type Schema,
  type SchemaIndex,
  type Type,
  type TypeDeclaration,
} from "../model/index.js";
import type { LoweredSchema } from "../protobuf/lower/lowered-schema.js";
import { pairShapes, type ShapePair, type TuplePair, type TypePair } from "./pair-shapes.js";
import { membersOf, type ShapeMember } from "./shape-members.js";

export interface SchemaState {
  /** With ids. */
  readonly schema: Schema;
  /** In step with the schema, with the lines of its file. */
  readonly lock: Lock;
  /** Its path. */
  readonly lockFile: string;
  /** The same schema in the protobuf layout. */
  readonly lowered: LoweredSchema;
  /** In Cap'n Proto, where the project emits it. */
  readonly capnp?: readonly CapnpFile[];
}

export interface Pair<T> {
  readonly older: T;
  readonly newer: T;
}

export interface EndpointPair extends Pair<Endpoint> {
  readonly actor: ActorDeclaration;
}

export interface StateComparison {
  readonly states: Pair<SchemaState>;
  readonly indexes: Pair<SchemaIndex>;
  readonly types: readonly Pair<TypeDeclaration>[];
  /** A type of the older side as the lock would write it, with the names that declarations have in their namespaces now. */
  readonly currentTypeText: (type: Type) => string;
  /** Declarations that the newer side does not have. */
  readonly removedTypes: readonly TypeDeclaration[];
  readonly actors: readonly Pair<ActorDeclaration>[];
  /** Those that both actors have. */
  readonly endpoints: readonly EndpointPair[];
  /** Named declarations and what is written in place, of the same kind on both sides. */
  readonly shapes: readonly ShapePair[];
  /** Wherever both sides have one. */
  readonly tuples: readonly TuplePair[];
  /** Of members, parameters and results, as they are written. */
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
  const pairs = pairShapes(types, actors, endpoints);
  return {
    states: { older, newer },
    indexes: { older: indexSchema(older.schema), newer: indexSchema(newer.schema) },
    types,
    currentTypeText: (type) => typeText(type, (key) => moved.get(key) ?? declarationName(key)),
    removedTypes: before.filter((type) => !paired.has(type)),
    actors,
    endpoints,
    shapes: pairs.shapes,
    tuples: pairs.tuples,
    typePairs: pairs.types,
  };
}

/**
 * A declaration whose file has moved is the one of its name, where there is one of that name alone; one that has moved to
 * another namespace of its file is the one of its simple name, likewise.
 */
function pairByName(before: readonly TypeDeclaration[], after: readonly TypeDeclaration[]): Pair<TypeDeclaration>[] {
  const keys = new Map(after.map((type) => [type.key, type]));
  const olderKeys = new Set(before.map(({ key }) => key));
  const moved = after.filter(({ key }) => !olderKeys.has(key));
  const gone = before.filter(({ key }) => !keys.has(key));
  /** The only declaration that has come, where `older` is the only one that has gone, of all that are like it. */
  const only = (isLike: (other: TypeDeclaration) => boolean): TypeDeclaration | undefined => {
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
   * Those that are one in TypeScript: of one name, whatever their ids, and of the others those of one id, which have been
   * renamed.
   */
  readonly pairs: readonly Pair<ShapeMember>[];
  /** Those that one side alone has, neither by name nor by id. */
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
