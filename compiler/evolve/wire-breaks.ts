/**
 * Applies the wire rules to two states of a project in the protobuf layout, and maps their findings on messages and
 * fields back to places in the schema. The rules themselves are in `shared/evolution`.
 */
import { findWireDifferences, type WireRoots, wireRules } from "../../shared/evolution/index.js";
import type { Pair } from "../../shared/evolution/pair.js";
import type { ProtoSchema } from "../../shared/protobuf/proto-schema.js";
import type { Position } from "../model/index.js";
import type { LoweredSchema, Origin } from "../protobuf/lower/lowered-schema.js";
import { messageOf, stateOf } from "./actor-state.js";
import type { Break } from "./break-rule.js";
import { changedLines, lineKey } from "./changed-line.js";
import type { StateComparison } from "./comparison.js";

export function wireBreaks(comparison: StateComparison): readonly Break[] {
  const { states: sides } = comparison;
  const lowered = { older: sides.older.lowered, newer: sides.newer.lowered };
  const roots = rootsOf(comparison, lowered);
  const names = { older: lowered.older.memberNames, newer: lowered.newer.memberNames };
  const found = findWireDifferences(withConstructors(lowered.older), withConstructors(lowered.newer), roots, names);
  const changed = changedLines(comparison);
  return found.map(({ code, place, text }) => {
    const [origin, side] = originOf(lowered, place);
    const fix = wireRules.find((rule) => rule.code === code)?.fix;
    const lineOf = (at: Position, of: typeof side) => (of === "newer" && changed.get(lineKey(at))) || at;
    const said = origin === undefined ? place : placeInWords(origin.place);
    return {
      code,
      class: "WIRE",
      place: said,
      at: origin === undefined ? { file: sides.newer.lockFile, line: 1, column: 1 } : lineOf(origin.at, side),
      side,
      text: `${said}: ${text}`,
      ...(fix !== undefined && { fix }),
    };
  });
}

/** Rewrites a place inside a result, which the lock writes as `Office.find->.name`, as words. */
function placeInWords(place: string): string {
  const [endpoint = "", inside] = place.split("->");
  if (inside === undefined) return place;
  const result = `the result of ${endpoint}`;
  return inside === "" ? result : `${inside.replace(/^\./, "")} of ${result}`;
}

/**
 * Returns the roots of the comparison: calls to all actors, values of exported types, which may be sent or stored, and states
 * of actors, which checkpoints contain.
 */
function rootsOf(comparison: StateComparison, { older, newer }: Pair<LoweredSchema>): WireRoots {
  const { states: sides, types } = comparison;
  const before = namesByPlace(older);
  const after = namesByPlace(newer);
  const values = types.flatMap((pair) => {
    if (!pair.older.exported || !pair.newer.exported) return [];
    const was = before.get(key(pair.older.name, pair.older.at)) ?? [];
    const is = after.get(key(pair.newer.name, pair.newer.at)) ?? [];
    if (pair.older.typeParameters.length === 0) return was[0] && is[0] ? [{ older: was[0], newer: is[0] }] : [];
    // A generic type has one message for each combination of its arguments.
    return was.map((name) => ({ older: name, newer: name }));
  });
  const actors = sides.older.schema.modules.flatMap((module) => module.actors).map(({ id }) => id);
  const services = new Map([...newer.schema.services.values()].map(({ id, name }) => [id, name]));
  const constructors = [...older.schema.services.values()].flatMap(({ id, name }) => {
    const now = services.get(id);
    const was = older.constructors.get(name);
    const is = now === undefined ? undefined : newer.constructors.get(now);
    return was === undefined || is === undefined ? [] : [{ older: was.name, newer: is.name }];
  });
  return {
    // The comparison skips names that only one side has.
    messages: [...constructors, ...values, ...statesOf(comparison)],
    enums: values,
    actors,
  };
}

/** Returns the states of actors that are the same type on both sides. A rule of its own compares others. */
function statesOf({ states: sides, indexes, types, actors }: StateComparison): readonly Pair<string>[] {
  return actors.flatMap((actor) => {
    const pair = types.find(({ older }) => older === stateOf(actor.older, indexes.older));
    if (pair === undefined || pair.newer !== stateOf(actor.newer, indexes.newer)) return [];
    const older = messageOf(sides.older.lowered, pair.older);
    const newer = messageOf(sides.newer.lowered, pair.newer);
    return older === undefined || newer === undefined ? [] : [{ older, newer }];
  });
}

/** Adds the constructors' arguments to the messages. They are sent too, when a process is asked to create an actor. */
function withConstructors({ schema, constructors }: LoweredSchema): ProtoSchema {
  const messages = new Map(schema.messages);
  for (const message of constructors.values()) messages.set(message.name, message);
  return { ...schema, messages };
}

/**
 * Returns the names of messages and enums by the place of their declaration. A generic type has one name for each use.
 */
function namesByPlace({ schema, origins }: LoweredSchema): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const name of [...schema.messages.keys(), ...schema.enums.keys()]) {
    const origin = origins.get(name);
    if (origin === undefined) continue;
    const place = key(origin.place, origin.at);
    const names = found.get(place);
    if (names === undefined) found.set(place, [name]);
    else names.push(name);
  }
  return found;
}

function key(place: string, { file, line, column }: Position): string {
  return `${place} at ${file}:${line}:${column}`;
}

/**
 * Returns the origin of a member in the newer schema, or in the older one if the member is gone. Falls back to the type
 * that contains the member.
 */
function originOf(
  { older, newer }: Pair<LoweredSchema>,
  place: string,
): readonly [Origin | undefined, "older" | "newer"] {
  for (let name = place; name !== ""; name = name.slice(0, Math.max(0, name.lastIndexOf(".")))) {
    const now = newer.origins.get(name);
    if (now !== undefined) return [now, "newer"];
    const then = older.origins.get(name);
    if (then !== undefined) return [then, "older"];
  }
  return [undefined, "newer"];
}
