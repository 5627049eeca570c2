/**
 * The starting points for the comparison of two schemas: messages that one side may send to the other, or may have
 * written to a disk.
 */
import type { ProtoSchema } from "../protobuf/proto-schema.js";
import type { Pair } from "./pair.js";

export interface WireRoots {
  /** Names of messages that one side reads and the other side has written. */
  readonly messages: readonly Pair<string>[];
  /** Names of enums whose values are written outside messages. The comparison finds the enums in messages by itself. */
  readonly enums?: readonly Pair<string>[];
  /** Ids of the actors that are called. */
  readonly actors: readonly number[];
}

/**
 * Returns the roots of a complete comparison: all actors of both sides, and all messages whose names both sides have.
 * The messages of calls are not listed, because they are compared by the ids of their endpoints.
 */
export function allRoots(older: ProtoSchema, newer: ProtoSchema): WireRoots {
  const calls = new Set([...callMessages(older), ...callMessages(newer)]);
  const names = [...newer.messages.keys()].filter((name) => older.messages.has(name) && !calls.has(name));
  const actors = new Set([...older.services.values(), ...newer.services.values()].map(({ id }) => id));
  return { messages: names.sort().map((name) => ({ older: name, newer: name })), actors: [...actors] };
}

function callMessages({ services }: ProtoSchema): readonly string[] {
  return [...services.values()].flatMap(({ methods }) =>
    methods.flatMap(({ request, response }) => [request, response]),
  );
}
