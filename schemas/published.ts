/**
 * Meshes that drivers publish on their hosts, and the messages to them. A host passes the messages of one driver on to
 * the other, so that the processes of two drivers have no links to each other.
 */
import type { Uint32, Uint64 } from "viceroy/schema";

/** One dimension of a published mesh. */
export interface PublishedDimension {
  name: string;
  size: Uint32;
}

/** A mesh of actors that a driver has published. */
export interface Publication {
  /** A random number. It is the same on all hosts of the driver. */
  id: Uint64;
  /** The name that other drivers look up. */
  name: string;
  /** The key of the actor interface: `my-app/schemas/index#Index`. */
  key: string;
  /** The fingerprint of the publisher's schema of the actor. */
  fingerprint: Uint64;
  /** The description of that schema as JSON. */
  description: string;
  /** The dimensions of the mesh, outermost first. */
  extent: PublishedDimension[];
  /** The publisher, for errors: `process 4711 on node1`. */
  publisher: string;
}

/** The result of a search for a published mesh. */
export interface FoundPublication {
  /** Absent: nothing is published by the name. */
  publication?: Publication;
  /** The names that are published, if nothing is by the wanted name. */
  names: string[];
}

/** A message to one actor of a published mesh. */
export interface RelayedCall {
  publication: Uint64;
  /** The rank of the actor in the published mesh. */
  rank: Uint32;
  /** The dimensions of the slice that was called. Absent: the whole mesh was called. */
  slice?: PublishedDimension[];
  /** The rank of the actor in that slice. */
  sliceRank: Uint32;
  /** The key that the actor was chosen by. */
  key?: string;
  /** The id of the endpoint, from the lock file. */
  endpoint: Uint32;
  /** The name of the endpoint in the sender's schema, for errors. */
  name: string;
  /** The arguments in the protobuf layout. */
  args: Uint8Array;
  /** Whether the sender waits for an answer. */
  isCall: boolean;
  /** The time in milliseconds for which the sender waits. Absent: without limit. */
  timeout?: Uint32;
  /** The position in a trace, as W3C trace context. */
  traceparent: string;
  /** The actors that wait for the answer, as messages carry them: two words each, outermost first. */
  chain?: Uint32[];
  /** The place of the message among those of its sender. */
  order?: MessageOrder;
}

/** The place of a message among all messages of its sender to a published mesh. */
export interface MessageOrder {
  /** A random number that identifies the sender: a program that has looked up the mesh. */
  sender: Uint64;
  /** The number of the message, from 1. */
  sequence: number;
  /** The number of moves of the sender to another host. */
  moves: Uint32;
}

/** A sender moves to another host, because the host that has passed its messages on is gone or has lost the publisher. */
export interface SenderMove {
  publication: Uint64;
  /** The sender, as in its messages. */
  sender: Uint64;
  /** The number of moves of the sender, including this one. Messages with a smaller number are refused from now on. */
  moves: Uint32;
}

/** The messages that a host or a publisher has received from a sender that moves. */
export interface MovedSender {
  /** Whether the mesh is published on the host to which the sender moves. */
  isPublished: boolean;
  /** The largest number of a message that the publisher has received from the sender. Absent: it is not known. */
  received?: number;
}

/** One error of a chain of causes. */
export interface RelayedError {
  name: string;
  message: string;
  stack?: string;
}

/** The answer of an actor, or one item of its stream. */
export interface RelayedAnswer {
  /** The result in the protobuf layout, as field 1 of a message. */
  value?: Uint8Array;
  /** The error that the handler threw, with its causes, outermost first. */
  errors?: RelayedError[];
  /** Why the actor cannot answer, because it has failed or was stopped. */
  failure?: string;
  /** Why the actor cannot be called: it waits for the answer of the call chain itself. */
  deadlock?: string;
  /** Why nothing can be sent to the published mesh any more. */
  ended?: string;
}

/** The state of one actor of a published mesh. */
export type PublishedRankState = "living" | "restarting" | "lost";
