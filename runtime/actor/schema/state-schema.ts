/**
 * Describes the types of states, and compares the type of a checkpoint with that of the actor that reads it. The rules are
 * those of `viceroy break`.
 */
import { findWireDifferences, oneWayRules } from "../../../shared/evolution/index.js";
import type { ProtoSchema } from "../../../shared/protobuf/proto-schema.js";
import { errorMessage } from "../../../shared/text/error-message.js";
import type { Codec } from "../../wire/codec.js";
import { describeCodecs } from "../../wire/protobuf/describe-schema.js";
import type { SavedState } from "../reference/saved-state.js";
import { readSchema, writeSchema } from "./schema-text.js";

const descriptions = new WeakMap<Codec<unknown>, string>();

/** Returns the description of the type of a state. */
export function describeState(codec: Codec<unknown>): string {
  let description = descriptions.get(codec);
  if (description === undefined) {
    description = writeSchema(describeCodecs([codec]));
    descriptions.set(codec, description);
  }
  return description;
}

/**
 * Compares the type of a saved state with the type that its reader has.
 *
 * @returns the differences because of which the state cannot be read, each on a line of its own; undefined if there is none
 */
export function stateDifferences(codec: Codec<unknown>, { fingerprint, schema }: SavedState): string | undefined {
  if (fingerprint === codec.fingerprint) return undefined;
  try {
    const [older, newer] = [readSchema(schema), describeCodecs([codec])];
    const [from, to] = [rootOf(older), rootOf(newer)];
    const messages = from === undefined || to === undefined ? [] : [{ older: from, newer: to }];
    // The checkpoint can be older or newer than its reader.
    const found = findWireDifferences(older, newer, { messages, actors: [] }).filter(
      ({ code }) => !oneWayRules.has(code),
    );
    if (found.length === 0) return undefined;
    return found.map(({ code, rule, place, text }) => `\n  ${code} ${rule} at ${place}: ${text}`).join("");
  } catch (error) {
    return ` its description cannot be read: ${errorMessage(error)}`;
  }
}

/** Returns the name of the described message. It is the first one, and the others are those that it refers to. */
function rootOf({ messages }: ProtoSchema): string | undefined {
  return messages.keys().next().value;
}
