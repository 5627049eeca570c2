/** The agent of a process: what the process that made it asks of it, and what it reports back. */
import type { Actor, Uint32, Uint64 } from "viceroy/schema";
import type { ProcessEnding, ProcessOutput } from "./host-agent.js";
import type { GrantClaim, MemoryAnswer } from "./rdma.js";
import type { ActorNotice } from "./supervision.js";

/** PEM files. */
export interface CertificateFiles {
  cert: string;
  key: string;
  ca: string;
}

/** How a process proves to hosts that it may speak to them. */
export interface HostProof {
  token?: string;
  tls?: CertificateFiles;
}

/** What a process is told first. */
export interface ProcConfig {
  /** A module that lets this process load TypeScript; it exports `register()`. */
  loader?: string;
  /** A module to load before any actor. */
  bootstrap?: string;
  /** The place of the generated registry to take actors from, instead of the one that orders name. */
  registry?: string;
  /** For hosts elsewhere. */
  proof?: HostProof;
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

/** Where an actor stands in its mesh. */
export interface ActorPlace {
  rank: Uint32;
  /** The names and sizes of its dimensions, outermost first. */
  dimensions: string[];
  sizes: Uint32[];
}

/** A schema as another process knows it. */
export interface KnownSchema {
  fingerprint: Uint64;
  /** JSON. */
  description: string;
}

/** An actor lives in another process from now on. */
export interface ActorMove {
  mesh: Uint64;
  rank: Uint32;
  proc: Uint64;
  /** Where that process listens. */
  location: string;
  /** How many times the actor has moved: what is older is not believed. */
  generation: Uint32;
  /** Whether the process that it has left still handles what was sent to it there: what is sent from now on waits for that. */
  drains?: boolean;
}

/** What the owner of a mesh knows of one of its actors. */
export interface RankStatus {
  /** `restarting`: it has ended, and is made again. `lost`: it has ended for good, or there is no such mesh any more. */
  state: "living" | "restarting" | "lost";
  /** Where it lives; absent unless it does. */
  place?: ActorMove;
}

/** The order to see to it that a host is there, and to let it know that the driver's machine is. */
export interface HostWatchOrder {
  /** The driver's agent there. */
  host: Uint64;
  address: string;
  proof: HostProof;
  /** How long a host may say nothing before it counts as gone, in milliseconds. */
  silence: Uint32;
}

/** For how long the handlers of an actor may run, in milliseconds. */
export interface WatchLimits {
  /** After so long, they are warned of. */
  warn: number;
  /** After so much longer, the actor fails. */
  grace: number;
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
  /** Whether the arguments are in the protobuf layout: the process that creates the actor has another schema. */
  protobuf?: boolean;
  /**
   * The arguments are in the protobuf layout because they say more than the schema of the one who orders. Nobody has compared
   * schemas yet.
   */
  uncompared?: boolean;
  /** Absent: that of the process among the addressed ones. */
  place?: ActorPlace;
  /** Absent: as long as they do. */
  watch?: WatchLimits;
}

/** What became of the order to create an actor. */
export interface SpawnOutcome {
  /** Absent, and no other schema: the actor is there. */
  failure?: ActorNotice;
  /** Nothing was done: the schema is another one here. The order may come again, in the protobuf layout. */
  other?: KnownSchema;
}

export interface StopOrder {
  reason: string;
  /** For how long queued messages are still handled, in milliseconds. */
  drain: Uint32;
  /** Whether the process leaves only when what its actors have sent has come to the processes of the receivers. */
  deliver?: boolean;
}

export interface ProcAgent extends Actor {
  /**
   * The host that this process runs on says how it can prove to other hosts that it may speak to them.
   * @concurrent
   */
  prove(proof: HostProof): void;
  /**
   * Listens for links from other hosts, at the address of its own and a port that is free, and answers with the port.
   * @concurrent
   */
  openPort(address: string): Uint32;
  /** Comes first. Answers when the process is ready to load actors. */
  configure(config: ProcConfig): ProcInfo;
  /**
   * Answers when the actor is there, or has failed to come to be.
   * @concurrent
   */
  createActor(order: SpawnOrder): SpawnOutcome;
  /**
   * There will be no actor of this mesh: messages to it are sent back, with the reason.
   * @concurrent
   */
  refuse(mesh: Uint64, name: string, reason: string, place?: ActorPlace): void;
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
  /**
   * Answers as soon as the event loop is free.
   * @concurrent
   */
  alive(): void;
  /**
   * An actor has moved, as this proc and those that it knows but `from` should know. Answers when they do, and when everything
   * that they have sent to where it lived before has been handled and answered, if that place drains.
   * @concurrent
   */
  moved(move: ActorMove, from: Uint64): void;
  /**
   * Tells what has become of an actor of a mesh that this proc owns, for one that cannot reach it.
   * @concurrent
   */
  rankStatus(mesh: Uint64, rank: Uint32): RankStatus;
  /**
   * Watches a host from now on, and tells the proc that ordered it, by `hostLeft`, when it is gone.
   * @concurrent
   */
  watchHost(order: HostWatchOrder): void;
  /**
   * Does so no more.
   * @concurrent
   */
  unwatchHost(host: Uint64): void;
  /**
   * Bytes of memory that this process has granted, from `offset` on.
   * @concurrent
   */
  readMemory(grant: GrantClaim, offset: number, length: Uint32): MemoryAnswer;
  /**
   * Puts bytes into memory that this process has granted.
   * @concurrent
   */
  writeMemory(grant: GrantClaim, offset: number, bytes: Uint8Array): MemoryAnswer;
  /**
   * What a transport has to exchange with the owner of a grant before bytes can go by it.
   * @concurrent
   */
  askMemory(transport: string, request: Uint8Array): Uint8Array;
  /** Tells the proc that ordered an actor that it has failed. */
  failed(notice: ActorNotice): void;
  /** A host tells of processes that it has started for this one: what they have printed. */
  processPrinted(output: ProcessOutput): void;
  /**
   * That one has ended.
   * @concurrent
   */
  processEnded(ending: ProcessEnding): void;
  /** That everything it has printed has been told. */
  processFinished(proc: Uint64): void;
  /**
   * That the host itself goes, or is gone, and what ran there with it: these processes, as far as the one who tells knows them.
   * @concurrent
   */
  hostLeft(host: Uint64, reason: string, procs?: Uint64[]): void;
}
