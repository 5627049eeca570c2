/** Checkpoints: the stored states of actors. */
import type { Uint32, Uint64 } from "viceroy/schema";

/** The state of one actor at one time, with what is needed to find out which actors can read it. */
export interface Checkpoint {
  /** Identifies the actor interface: `<package>/<schema path without extension>#<name>`. */
  actor: string;
  /** The id of the actor interface from the lock file. It stays the same when the interface is renamed or moved. */
  actorId: Uint32;
  /** The name of the mesh, as it was spawned. */
  mesh: string;
  /** The rank of the actor in the mesh that was spawned. */
  rank: Uint32;
  /** The time at which the state was saved, by the clock of the actor's process. */
  at: Date;
  /** The fingerprint of the type of the state. */
  fingerprint: Uint64;
  /** The description of the type of the state as JSON, with which another version of the schema is compared. */
  schema: string;
  /** The state in the protobuf layout. */
  state: Uint8Array;
}

/** A file in memory that processes of the same machine can map. It contains the state, and the token behind it. */
export interface SharedState {
  pid: Uint32;
  /** The descriptor of the file in that process. */
  file: Uint32;
  /** 16 random bytes that identify the file. */
  token: Uint8Array;
}

/** A large state that its receiver fetches apart from the message. It exists until the receiver drops it. */
export interface StateOffer {
  /** The process whose agent has the state. */
  proc: Uint64;
  /** The number of the offer in that process. */
  id: Uint32;
  /** The size of the state in bytes. */
  bytes: Uint32;
  /** The state as memory, if that process can share memory. */
  shared?: SharedState;
}

/** A checkpoint on its way to another process. */
export interface CarriedCheckpoint {
  /** The checkpoint. Its state is empty if it is offered. */
  checkpoint: Checkpoint;
  offer?: StateOffer;
}
