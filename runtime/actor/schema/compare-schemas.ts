/**
 * Compares the schemas of two processes: describes an interface for peers that know it by another fingerprint, and
 * checks their descriptions. The rules are those of `viceroy break`. The result is cached for each pair of schemas.
 */

import { findWireDifferences, oneWayRules } from "../../../shared/evolution/index.js";
import type { WireDifference } from "../../../shared/evolution/wire-difference.js";
import { errorMessage } from "../../../shared/text/error-message.js";
import { DeliveryError } from "../../link/errors.js";
import type { PeerSchema } from "../../link/frame/binding.js";
import type { MessageInterface, SessionTarget } from "../../link/outbound/message-sender.js";
import type { ActorDescriptor } from "../../wire/descriptor.js";
import { describeActor } from "../../wire/protobuf/describe-schema.js";
import { ActorTarget } from "../reference/mesh-record.js";
import { PortInterface } from "./port-interface.js";
import { readSchema, writeSchema } from "./schema-text.js";

/**
 * The number of pairs that are cached. It is more than any program has, and it limits peers that send random
 * fingerprints.
 */
const MOST_PAIRS = 1024;

const knownSchemas = new WeakMap<MessageInterface, PeerSchema>();
const knownDifferences = new Map<string, string | undefined>();

/** Returns the description of an interface for a peer. */
export function schemaForPeer(known: ActorDescriptor | PortInterface): PeerSchema {
  let schema = knownSchemas.get(known);
  if (schema === undefined) {
    schema = { fingerprint: known.fingerprint, description: writeSchema(describeActor(actorOf(known))) };
    knownSchemas.set(known, schema);
  }
  return schema;
}

/**
 * Compares the schema of an interface with that of the receiver.
 *
 * @returns why messages of the interface cannot be sent to the receiver; undefined if they can
 */
export function compareSchemas(
  target: SessionTarget,
  known: MessageInterface,
  other: PeerSchema,
): DeliveryError | undefined {
  const apart = schemaDifferences(known as ActorDescriptor | PortInterface, other);
  return apart === undefined ? undefined : new DeliveryError("refused", `${receiverName(target)} ${apart}`);
}

/**
 * Returns the differences that keep two processes from reading each other's messages of an interface.
 *
 * @returns text that follows the name of the peer, with each difference on a line of its own; undefined if there is
 * none
 */
export function schemaDifferences(known: ActorDescriptor | PortInterface, other: PeerSchema): string | undefined {
  const pair = `${known.key} ${known.fingerprint} ${other.fingerprint}`;
  if (knownDifferences.has(pair)) return knownDifferences.get(pair);
  const apart = findDifferences(known, other);
  if (knownDifferences.size >= MOST_PAIRS) knownDifferences.clear();
  knownDifferences.set(pair, apart);
  return apart;
}

function findDifferences(known: ActorDescriptor | PortInterface, { description }: PeerSchema): string | undefined {
  let found: readonly WireDifference[];
  try {
    // It is unknown which of the two schemas is older, so rules of one direction do not apply. A call of an endpoint
    // that the other side lacks is refused when it is made.
    found = findWireDifferences(readSchema(description), describeActor(actorOf(known))).filter(
      ({ code }) => !oneWayRules.has(code),
    );
  } catch (error) {
    const why = errorMessage(error);
    return `has another schema of ${known.key}, and what it says of that cannot be read: ${why}`;
  }
  if (found.length === 0) return undefined;
  const lines = found.map(({ code, rule, place, text }) => `\n  ${code} ${rule} at ${place}: ${text}`);
  return `has another schema of ${known.key}, and the two cannot be read by each other (was: there, is: here):${lines.join("")}`;
}

function actorOf(known: ActorDescriptor | PortInterface): ActorDescriptor {
  return known instanceof PortInterface ? known.asActor() : known;
}

function receiverName(target: SessionTarget): string {
  return target instanceof ActorTarget ? `${target.mesh.name}[${target.rank}]` : "the receiver of the port";
}
