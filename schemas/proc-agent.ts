/** The agent of a process: what the process that made it asks of it, and what it reports back. */
import type { Actor, Uint32, Uint64 } from "viceroy/schema";
import type { ActorNotice } from "./supervision.js";

/** What a process is told first. */
export interface ProcConfig {
  /** The name of the mesh of processes. */
  name: string;
  /** How its output is marked: `gpus=1`. */
  label: string;
  /** Dimension to size of the mesh of processes, in order. */
  extent: Map<string, Uint32>;
  rank: Uint32;
  /** Where the sockets of the tree of processes live; empty: nowhere. */
  runDir: string;
  /** A module that lets this process load TypeScript; it exports `register()`. */
  loader?: string;
  /** A module to load before any actor. */
  bootstrap?: string;
}

/** What a process says of itself when it is ready. */
export interface ProcInfo {
  pid: Uint32;
  /** The version of Node.js. */
  node: string;
  /** The version of Viceroy. */
  viceroy: string;
}

/** Where another process finds an actor class: the place of a registry, and the id in it. */
export interface ClassReference {
  registry: string;
  id: string;
}

/** The order to create one actor on each addressed process; the rank is that of the process in the addressed slice. */
export interface SpawnOrder {
  mesh: Uint64;
  name: string;
  actor: ClassReference;
  /** Of the actor's schema, as the one who orders knows it. */
  fingerprint: Uint64;
  /** The constructor's arguments, a message of the schema's own codec. */
  args: Uint8Array;
  incarnation: Uint32;
}

export interface StopOrder {
  reason: string;
  /** For how long queued messages are still handled, in milliseconds. */
  drain: Uint32;
}

export interface ProcAgent extends Actor {
  /** Comes first. Answers when the process is ready to load actors. */
  configure(config: ProcConfig): ProcInfo;
  /**
   * Answers when the actor is there; rejects when it failed to come to be.
   * @concurrent
   */
  spawn(order: SpawnOrder): void;
  /**
   * The order to create actors of this mesh will not come.
   * @concurrent
   */
  cancel(mesh: Uint64, reason: string): void;
  /**
   * Stops the actor of a mesh and what it owns. Answers when its cleanup has ended.
   * @concurrent
   */
  stopActor(mesh: Uint64, order: StopOrder): void;
  /**
   * Stops all actors and what they own, answers, and ends the process.
   * @concurrent
   */
  shutdown(order: StopOrder): void;
  /** Tells the proc that ordered an actor that it has failed. */
  failed(notice: ActorNotice): void;
}
