/** Where the comparison of two schemas begins: messages that one side may send to the other, or may have written to a disk. */
import type { ProtoSchema } from "../protobuf/proto-schema.js";
import type { Pair } from "./wire-rule.js";

export interface WireRoots {
  /** Names of messages of which one side reads what the other has written. */
  readonly messages: readonly Pair<string>[];
  /** Names of enums whose values stand alone. Those in messages are found there. */
  readonly enums?: readonly Pair<string>[];
  /** Ids of actors that are called. */
  readonly actors: readonly number[];
}

/**
 * Everything: all actors of either side, and the messages that have the same name in both, except those of calls, which are
 * compared by the ids of endpoints.
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
