/**
 * The agent of a host, which starts and watches processes for a driver. Each driver has its own agent on each of its
 * hosts, so that drivers share only the machine.
 */
import type { Actor, Stream, Uint32, Uint64 } from "viceroy/schema";
import type {
  FoundPublication,
  MovedSender,
  Publication,
  PublishedRankState,
  RelayedAnswer,
  RelayedCall,
  SenderMove,
} from "./published.js";

/** The first message of a driver to a host: its versions and its keep-alive time. */
export interface HostTerms {
  /** The version of Viceroy. */
  viceroy: string;
  /** The name of the driver in the log of the host, as the driver gives it. Absent: it gives none. */
  driver?: string;
  /** The fingerprint of the driver's schema of process agents, which the driver calls directly. */
  procAgent: Uint64;
  /** The fingerprint of the driver's schema of host agents. */
  hostAgent: Uint64;
  /**
   * The time in milliseconds after which the host ends the driver's processes if it receives no heartbeat. Absent:
   * there are no heartbeats, and the end of the link means the end of the driver.
   */
  keepAlive?: Uint32;
  /** Whether the driver only looks. The host then refuses all that changes something, for the whole session. */
  readOnly?: boolean;
}

/** The description of a host. */
export interface HostInfo {
  /** The id of the daemon, which is the same for all its addresses. */
  daemon: Uint64;
  pid: Uint32;
  /** The name of the machine. */
  hostname: string;
  /** The version of Node.js. */
  node: string;
  /** The version of Viceroy. */
  viceroy: string;
}

/** A process on a host, as other drivers see it. It contains no id by which a message could reach the process. */
export interface SeenProcess {
  pid: Uint32;
  /** The name of the process in lists of processes. */
  label: string;
  /** The rank in its mesh. */
  rank: Uint32;
}

/** A driver of a host, as other drivers see it. */
export interface SeenDriver {
  /** What is known of the driver: what it says of itself, its address and its identity. */
  description: string;
  /** Whether it only looks. */
  readOnly: boolean;
  /** The time at which it has attached the host, in milliseconds since 1970. */
  attachedAt: Uint64;
  processes: SeenProcess[];
  /** The memory and disk of the host that the large values of the driver's contexts use. */
  objects?: SeenObjects[];
}

/** The memory and disk of a host that the large values of one context use, in bytes. */
export interface SeenObjects {
  /** The id of the context. */
  context: string;
  memory: number;
  memoryLimit: number;
  disk: number;
  diskLimit: number;
  /** The number of values, and that of those on disk. */
  values: Uint32;
  spilled: Uint32;
}

/** The use of a host by all its drivers. */
export interface HostUse {
  drivers: SeenDriver[];
  /** The names of the published meshes. */
  published: string[];
}

/** One dimension of a mesh. */
export interface Dimension {
  name: string;
  size: Uint32;
}

/** The order to start one process. */
export interface StartOrder {
  proc: Uint64;
  /** The process that sends the orders, which is the parent of the new process. */
  maker: Uint64;
  /** The rank in the mesh. */
  rank: Uint32;
  /** The dimensions of the mesh, outermost first. */
  extent: Dimension[];
  /** The location of the process in references: on this host, by the address that the driver dials. */
  location: string;
  /** The name of the process in lists of processes. */
  label: string;
  /** Environment variables in addition to those of the host. */
  env: Record<string, string>;
  /** Environment variables of the host that the process does not inherit. */
  unset: string[];
  /** Options of Node.js. */
  execArgv: string[];
  /** The processors, in the notation of `taskset -c`. */
  cpus?: string;
  /** Whether the host sends the output of the process. */
  output: boolean;
  /** The working directory. Absent: that of the host. */
  cwd?: string;
}

/** `terminate` sends SIGTERM to the process. `kill` sends SIGKILL to the process and its descendants. */
export type HostSignal = "terminate" | "kill";

/** The port on which a process accepts links directly. */
export interface OwnPort {
  /** The port at the host's address. Absent: the process is reached only through the host. */
  port?: Uint32;
}

/** Consecutive GPUs of a host. */
export interface GpuRange {
  /** The index of the first one in the list of the host's GPUs. */
  first: Uint32;
  count: Uint32;
}

/** A file, as the driver sees it. */
export interface SeenFile {
  path: string;
  inode: Uint64;
  size: Uint64;
  /** The time of the last change in nanoseconds since 1970. */
  modified: Uint64;
}

/** The order to run a command, which is not a process of Viceroy. */
export interface CommandOrder {
  /** The program and its arguments. No shell reads them. */
  command: string[];
  /** Environment variables in addition to those of the host. */
  env: Record<string, string>;
  /** The working directory. Absent: that of the host. */
  cwd?: string;
  /** The GPUs that the command sees. Absent: all that the host has. */
  gpus?: GpuRange;
  /** The id by which `endCommand` finds the command. Absent: it ends with its stream only. */
  id?: Uint64;
}

/** Bytes that a command has printed, or its end, which is the last event. */
export interface CommandEvent {
  stdout?: Uint8Array;
  stderr?: Uint8Array;
  /** The exit code, or 128 plus the number of the signal that has ended the command. */
  exitCode?: Uint32;
  /** Why the command could not be started. */
  error?: string;
}

export interface HostAgent extends Actor {
  /**
   * Attaches a driver. This is the first call. It fails if the driver and the host are incompatible.
   * @concurrent
   */
  attach(terms: HostTerms): HostInfo;
  /**
   * Starts a process. Returns when the process is running and can be reached through this host. `processEnded` reports
   * its end.
   * @concurrent
   */
  start(order: StartOrder): void;
  /**
   * Returns the port of a process, when the process is ready to listen.
   * @concurrent
   */
  portOf(proc: Uint64): OwnPort;
  /**
   * Sends a signal to a process. It has no effect on a process that has ended.
   * @concurrent
   */
  signal(proc: Uint64, signal: HostSignal): void;
  /**
   * Runs a command. It is ended when the caller leaves the stream, or with the session.
   * @concurrent
   */
  execute(order: CommandOrder): Stream<CommandEvent>;
  /**
   * Ends a command with all processes of its group: SIGTERM, and SIGKILL after a time in milliseconds. Its stream goes on until
   * it has ended. A command that has ended, or is unknown, is left alone.
   * @concurrent
   */
  endCommand(id: Uint64, grace: Uint32): void;
  /**
   * Returns a TCP port that no process listens on at the moment.
   * @concurrent
   */
  freePort(): Uint32;
  /**
   * Ends all processes of this driver, answers, and detaches the driver.
   * @concurrent
   */
  leave(reason: string): void;
  /**
   * Ends the daemon and the processes of all drivers. Returns when they have ended.
   * @concurrent
   */
  shutdown(reason: string): void;
  /**
   * Sends a heartbeat. The immediate answer tells that the host is alive, and the call tells that the driver's machine
   * is. It fails if this actor is not, or no longer, the driver's agent.
   * @concurrent
   */
  beat(): void;
  /**
   * Reports that the driver has ended, which its machine knows for certain. Its processes are ended at once.
   * @concurrent
   */
  driverEnded(reason: string): void;
  /**
   * Makes a mesh of the driver known to other drivers. It fails if another mesh has the name. It ends with the session.
   * @concurrent
   */
  publish(publication: Publication): void;
  /**
   * Withdraws a published mesh of the driver.
   * @concurrent
   */
  unpublish(publication: Uint64, reason: string): void;
  /**
   * Returns the mesh that a driver has published by a name. If there is none, it waits for at most `wait` milliseconds.
   * @concurrent
   */
  findPublication(name: string, wait: Uint32): FoundPublication;
  /**
   * Sends a message to an actor of a published mesh. Messages to a mesh keep their order.
   * @concurrent
   */
  relayCall(call: RelayedCall): RelayedAnswer;
  /**
   * Calls a streaming endpoint of an actor of a published mesh.
   * @concurrent
   */
  relayStream(call: RelayedCall): Stream<RelayedAnswer>;
  /**
   * Returns the state of an actor of a published mesh.
   * @concurrent
   */
  publishedRankState(publication: Uint64, rank: Uint32): PublishedRankState;
  /**
   * Sends the driver's messages to a published mesh through this host from now on, instead of through another host.
   * @concurrent
   */
  movePublishedSender(move: SenderMove): MovedSender;
  /**
   * Starts a controller on this host: a process that can take over the processes and meshes of a driver. Returns its id
   * when it has loaded the program and reaches all hosts. It ends with this host.
   * @param state what the driver owns, as the text of `encodeHandOver`
   * @concurrent
   */
  startController(state: string): Uint64;
  /**
   * Hands the processes and meshes of a driver over. The driver has closed its connections to the hosts. Returns when the
   * controller owns everything. It fails if the controller could not take over; everything ends then.
   * @param state what the driver owns, as the text of `encodeHandOver`
   * @concurrent
   */
  handOver(controller: Uint64, state: string): void;
  /**
   * Ends a controller that has taken nothing over.
   * @concurrent
   */
  endController(controller: Uint64): void;
  /**
   * Keeps everything that this host would tell the driver, because a controller will take the driver's place. If neither
   * `resume` follows nor another call of `hold` within `limit` milliseconds, the session ends.
   * @concurrent
   */
  hold(limit: Uint32): void;
  /**
   * Sends what was kept, and all later messages.
   * @param publisher the new owner of the published meshes, for errors. Absent: the driver itself goes on.
   * @concurrent
   */
  resume(publisher?: string): void;
  /**
   * Describes the use of the host by all its drivers.
   * @concurrent
   */
  describe(): HostUse;
  /**
   * Returns the processes of this driver that have not ended.
   * @concurrent
   */
  processes(): Uint64[];
  /**
   * Has a controller of this host spawn an actor in its own process and publish it. A host has one such controller for each
   * name: if there is one already, the call returns when its actor is published. The controller ends with this host, or
   * when its actor ends it.
   * @param name the name by which the actor is published
   * @param order the actor and the hosts that the controller attaches, as the text of `encodeServeOrder`
   * @concurrent
   */
  serve(name: string, order: string): void;
  /**
   * Returns whether this host has the same file at the same path, because it shares a file system with the driver.
   * @concurrent
   */
  hasFile(file: SeenFile): boolean;
}
