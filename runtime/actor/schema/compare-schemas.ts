/**
 * Schemas of two processes compared: what this process says of an interface to those who know it by another fingerprint, and
 * what it makes of what they say. The rules are those of `viceroy break`; what comes of them is kept for each pair.
 */

import { findWireDifferences, oneWayRules } from "../../../shared/evolution/index.js";
import type { WireDifference } from "../../../shared/evolution/wire-difference.js";
import type { OtherSchema } from "../../link/binding.js";
import { DeliveryError } from "../../link/errors.js";
import type { Interface, SessionTarget } from "../../link/session.js";
import type { ActorDescriptor } from "../../wire/descriptor.js";
import { describeActor } from "../../wire/protobuf/describe.js";
import { ActorTarget } from "../reference/mesh-record.js";
import { PortInterface } from "./port-interface.js";
import { readSchema, writeSchema } from "./schema-text.js";

/** Pairs that are remembered: more than any program has, and a bound for peers that draw fingerprints at random. */
const MOST_PAIRS = 1024;

const knownSchemas = new WeakMap<Interface, OtherSchema>();
const knownDifferences = new Map<string, string | undefined>();

/** An interface as others are told of it. */
export function schemaForPeer(known: ActorDescriptor | PortInterface): OtherSchema {
  let schema = knownSchemas.get(known);
  if (schema === undefined) {
    schema = { fingerprint: known.fingerprint, description: writeSchema(describeActor(actorOf(known))) };
    knownSchemas.set(known, schema);
  }
  return schema;
}

/** @returns why messages by an interface cannot be sent to a receiver with another schema of it; undefined: they can */
export function compareSchemas(target: SessionTarget, known: Interface, other: OtherSchema): DeliveryError | undefined {
  const apart = schemaDifferences(known as ActorDescriptor | PortInterface, other);
  return apart === undefined ? undefined : new DeliveryError("refused", `${receiverName(target)} ${apart}`);
}

/**
 * What keeps two schemas of an interface from being read by each other.
 * @returns what follows the name of whoever has the other one, each difference on a line of its own; undefined: nothing
 */
export function schemaDifferences(known: ActorDescriptor | PortInterface, other: OtherSchema): string | undefined {
  const pair = `${known.key} ${known.fingerprint} ${other.fingerprint}`;
  if (knownDifferences.has(pair)) return knownDifferences.get(pair);
  const apart = findDifferences(known, other);
  if (knownDifferences.size >= MOST_PAIRS) knownDifferences.clear();
  knownDifferences.set(pair, apart);
  return apart;
}

function findDifferences(known: ActorDescriptor | PortInterface, { description }: OtherSchema): string | undefined {
  let found: readonly WireDifference[];
  try {
    // Which of the two is older is not known: an endpoint that one side lacks is refused when it is called.
    found = findWireDifferences(readSchema(description), describeActor(actorOf(known))).filter(
      ({ code }) => !oneWayRules.has(code),
    );
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
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
