/**
 * The agent of a process. Its parent process calls it to create and stop actors, and the agent reports failures to its
 * parent.
 */
import type { Actor, Stream, Uint32, Uint64 } from "viceroy/schema";
import type { CarriedCheckpoint, Checkpoint } from "./checkpoint.js";
import type { MovedSender, PublishedRankState, RelayedAnswer, RelayedCall, SenderMove } from "./published.js";
import type { GrantClaim, MemoryAnswer } from "./rdma.js";
import type { ActorNotice, FailureCause } from "./supervision.js";

/** The paths of PEM files. */
export interface CertificateFiles {
  cert: string;
  key: string;
  ca: string;
}

/** Credentials that a process presents to a host. */
export interface HostProof {
  token?: string;
  tls?: CertificateFiles;
  /**
   * The hash of the public key of the driver whose process this is. A process on a host accepts no links of drivers with other
   * keys. Absent: the driver has no identity, or this process is on no host.
   */
  driverKey?: string;
}

/** The credentials for hosts that were attached together. */
export interface HostKey {
  /** The agents on these hosts. */
  hosts: Uint64[];
  proof: HostProof;
}

/** The configuration of a process, which is the first message to it. */
export interface ProcConfig {
  /** A module that enables this process to load TypeScript. It exports `register()`. */
  loader?: string;
  /** A module to load before any actor. */
  bootstrap?: string;
  /**
   * The location of the generated registry from which actor classes are loaded, instead of the registry in an order.
   */
  registry?: string;
  /** The credentials of the host on which the process runs. Absent: a host passes them on itself, or there is no host. */
  proof?: HostProof;
  /** The credentials for hosts that were attached by the processes above. Absent: none are attached. */
  keys?: HostKey[];
}

/** The description of a process that is ready. */
export interface ProcInfo {
  pid: Uint32;
  /** The version of Node.js. */
  node: string;
  /** The version of Viceroy. */
  viceroy: string;
}

/** A reference to an actor class: the location of a registry, and the id of the class in it. */
export interface ClassReference {
  registry: string;
  id: string;
}

/** The position of an actor in its mesh. */
export interface ActorPlace {
  rank: Uint32;
  /** The names and sizes of the dimensions, outermost first. */
  dimensions: string[];
  sizes: Uint32[];
  /** The number by which the actor is addressed, if it differs from the rank, because the mesh was resized. */
  number?: Uint32;
}

/** The schema that another process has. */
export interface KnownSchema {
  fingerprint: Uint64;
  /** The description of the schema as JSON. */
  description: string;
}

/** The move of an actor to another process. */
export interface ActorMove {
  mesh: Uint64;
  rank: Uint32;
  proc: Uint64;
  /** The address at which that process listens. */
  location: string;
  /** The number of moves of the actor. Messages about earlier moves are ignored. */
  generation: Uint32;
  /**
   * Whether the previous process still handles the messages that were sent to it. New messages wait until it has
   * handled them.
   */
  drains?: boolean;
  /** Why the actor has left its mesh, which was resized. Absent: it has moved. */
  left?: string;
}

/** The state of an actor, as the owner of its mesh knows it. */
export interface RankStatus {
  /**
   * `restarting`: the actor has ended and is being created again. `lost`: the actor has ended permanently, or the mesh
   * no longer exists.
   */
  state: "living" | "restarting" | "lost";
  /** The location of a living actor. Absent in other states. */
  place?: ActorMove;
}

/** The order to watch a host, and to send heartbeats on behalf of the driver's machine. */
export interface HostWatchOrder {
  /** The driver's agent on the host. */
  host: Uint64;
  /** The address by which the driver's machine reaches the host. */
  address: string;
  /** The credentials for the host. Absent: those of the host on which the watching process runs. */
  proof?: HostProof;
  /** The time without an answer after which a host counts as lost, in milliseconds. */
  silence: Uint32;
}

/** The limits of the run time of an actor's handlers, in milliseconds. */
export interface WatchLimits {
  /** The run time after which a warning is printed. */
  warn: number;
  /** The additional run time after which the actor fails. */
  grace: number;
}

/** The order to create one actor on each addressed process. Its rank is that of the process in the addressed slice. */
export interface SpawnOrder {
  mesh: Uint64;
  name: string;
  actor: ClassReference;
  /** The fingerprint of the sender's schema of the actor. */
  fingerprint: Uint64;
  /** The arguments of the constructor, encoded with the codec of the schema. */
  args: Uint8Array;
  incarnation: Uint32;
  /**
   * Whether the arguments are in the protobuf layout, because the process that creates the actor has another schema.
   */
  protobuf?: boolean;
  /**
   * Whether the arguments are in the protobuf layout before the schemas have been compared, because they contain fields
   * that the sender's schema does not know.
   */
  uncompared?: boolean;
  /** The position of the actor. Absent: that of the process among the addressed processes. */
  place?: ActorPlace;
  /** The limits of handlers. Absent: there are none. */
  watch?: WatchLimits;
  /** The checkpoint that the actor begins with. If this and `carried` are absent, it begins with its arguments. */
  checkpoint?: Checkpoint;
  /** Whether the actor sends a last checkpoint to the sender of this order when it is stopped. */
  savesAtStop?: boolean;
  /** The checkpoint that the actor begins with, if its state is fetched apart from this order. */
  carried?: CarriedCheckpoint;
  /** The number of messages after which the sender of this order replaces the process. Absent: there is no limit. */
  maxCalls?: Uint32;
}

/** The outcome of an order to create an actor. */
export interface SpawnOutcome {
  /** The failure. If this and `other` are absent, the actor has been created. */
  failure?: ActorNotice;
  /**
   * The schema of this process, if it differs. The order was not carried out and can be sent again in the protobuf
   * layout.
   */
  other?: KnownSchema;
  /** Whether the actor was created from the checkpoint of the order. A process of an older release does not say so. */
  restored?: boolean;
}

export interface StopOrder {
  reason: string;
  /** The time in milliseconds during which queued messages are still handled. */
  drain: Uint32;
  /** Whether the process exits only after the messages of its actors have reached the processes of the receivers. */
  deliver?: boolean;
}

/** The end of a process, as the host that has started it reports it. */
export interface ProcessEnding {
  proc: Uint64;
  /** Whether the process has run. False if it could not be started. */
  ran: boolean;
  cause: FailureCause;
  /** Whether the process has ended by itself with exit code 0. */
  clean: boolean;
}

/** Lines that a process has printed, as the host that has started it reports them. */
export interface ProcessOutput {
  proc: Uint64;
  /** Whether the lines are from standard error. Otherwise, they are from standard output. */
  stderr: boolean;
  lines: string[];
  /** The number of lines that were dropped before these lines, because the driver did not read them in time. */
  dropped: Uint32;
}

export interface ProcAgent extends Actor {
  /**
   * Sets the credentials of the host on which this process runs. The host calls it.
   * @concurrent
   */
  prove(proof: HostProof): void;
  /**
   * Adds the credentials for hosts that a process above has attached after this process has started.
   * @concurrent
   */
  addHostKey(key: HostKey): void;
  /**
   * Listens for links from other hosts on a free port of the given address. Returns the port.
   * @concurrent
   */
  openPort(address: string): Uint32;
  /**
   * Configures the process. This is the first call. Returns when the process is ready to load actors. What its bootstrap module starts
   * reports to this process meanwhile.
   * @concurrent
   */
  configure(config: ProcConfig): ProcInfo;
  /**
   * Creates an actor. Returns when the actor has been created or has failed.
   * @concurrent
   */
  createActor(order: SpawnOrder): SpawnOutcome;
  /**
   * Saves the state of the actor of a mesh between two of its messages, and returns the checkpoint.
   * @concurrent
   */
  takeCheckpoint(mesh: Uint64): CarriedCheckpoint;
  /**
   * Hands over the last checkpoint of an actor that is being stopped. Returns when it is stored.
   * @concurrent
   */
  storeLastCheckpoint(mesh: Uint64, rank: Uint32, incarnation: Uint32, saved: CarriedCheckpoint): void;
  /**
   * Returns a part of a state that this process has offered, from the byte `offset`.
   * @concurrent
   */
  readState(offer: Uint32, offset: Uint32, length: Uint32): Uint8Array;
  /**
   * Ends the offer of a state.
   * @concurrent
   */
  dropState(offer: Uint32): void;
  /**
   * Reports that no actor of this mesh will be created. Messages to it are returned with the reason.
   * @concurrent
   */
  refuse(mesh: Uint64, name: string, reason: string, place?: ActorPlace): void;
  /**
   * Stops the actor of a mesh and everything that it owns. Returns when the cleanup has ended.
   * @concurrent
   */
  stopActor(mesh: Uint64, order: StopOrder): void;
  /**
   * Stops all actors and everything that they own, answers, and ends the process.
   * @concurrent
   */
  shutdown(order: StopOrder): void;
  /**
   * Answers as soon as the event loop is free.
   * @concurrent
   */
  alive(): void;
  /**
   * Reports the move of an actor. This process informs the processes that it knows, except `from`. It answers when they
   * know of the move. If the previous process drains, it also waits until the messages sent there have been handled and
   * answered.
   * @concurrent
   */
  moved(move: ActorMove, from: Uint64): void;
  /**
   * Returns the state of an actor of a mesh that this process owns. A process that cannot reach the actor calls it.
   * @concurrent
   */
  rankStatus(mesh: Uint64, rank: Uint32): RankStatus;
  /**
   * Starts watching a host. If the host is lost, `hostLeft` informs the process that sent the order.
   * @concurrent
   */
  watchHost(order: HostWatchOrder): void;
  /**
   * Stops watching a host.
   * @concurrent
   */
  unwatchHost(host: Uint64): void;
  /**
   * Ends the process, because the driver has ended. A process that watches hosts for the driver tells them before.
   * @concurrent
   */
  driverEnded(reason: string): void;
  /**
   * Reads bytes of memory that this process has granted, starting at the byte `offset`.
   * @concurrent
   */
  readMemory(grant: GrantClaim, offset: number, length: Uint32): MemoryAnswer;
  /**
   * Writes bytes to memory that this process has granted, starting at the byte `offset`.
   * @concurrent
   */
  writeMemory(grant: GrantClaim, offset: number, bytes: Uint8Array): MemoryAnswer;
  /**
   * Exchanges the data that a transport needs from the owner of a grant before it can transfer bytes.
   * @concurrent
   */
  askMemory(transport: string, request: Uint8Array): Uint8Array;
  /** Reports a failed actor to the process that ordered it. */
  failed(notice: ActorNotice): void;
  /**
   * Reports to the process that ordered an actor that the actor has handled as many messages as the order allows. It handles no
   * other message until `passOn`.
   */
  callsSpent(mesh: Uint64, rank: Uint32, incarnation: Uint32): void;
  /**
   * Has an actor that has moved to another process pass on the messages that it has not begun to handle, and answer them with the
   * answers of the actor there. The order follows `moved`.
   * @concurrent
   */
  passOn(mesh: Uint64): void;
  /** Reports lines that a process has printed. The host that started the process calls it. */
  processPrinted(output: ProcessOutput): void;
  /**
   * Reports the end of a process. The host that started the process calls it.
   * @concurrent
   */
  processEnded(ending: ProcessEnding): void;
  /** Reports that all output of a process has been sent. */
  processFinished(proc: Uint64): void;
  /**
   * Reports that a host is ending or lost, with its processes. `procs` are those that the caller knows.
   * @concurrent
   */
  hostLeft(host: Uint64, reason: string, procs?: Uint64[]): void;
  /**
   * Sends a message of another driver to an actor of a mesh that this process has published.
   * @concurrent
   */
  callPublished(call: RelayedCall): RelayedAnswer;
  /**
   * Calls a streaming endpoint of an actor of a mesh that this process has published.
   * @concurrent
   */
  streamPublished(call: RelayedCall): Stream<RelayedAnswer>;
  /**
   * Returns the state of an actor of a mesh that this process has published.
   * @concurrent
   */
  publishedRankState(publication: Uint64, rank: Uint32): PublishedRankState;
  /**
   * Reports that a mesh that this process has looked up is not published any more: on no host, or only on the host `left`,
   * which its publisher has left.
   * @concurrent
   */
  publicationEnded(publication: Uint64, reason: string, left?: Uint64): void;
  /**
   * Reports that another driver sends its messages to a published mesh through another host from now on.
   * @concurrent
   */
  movePublishedSender(move: SenderMove): MovedSender;
  /**
   * Returns the failures of actors that this process has reported and that have not been created again. A controller asks
   * after it has taken over, because a report can be lost while the driver leaves.
   * @concurrent
   */
  failures(): ActorNotice[];
}
