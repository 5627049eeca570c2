/**
 * The agent of a host: what a driver asks of a machine, and what it is told from there. Each driver has an agent of its own
 * on each of its hosts, so that two of them share nothing but the machine.
 */
import type { Actor, Uint32, Uint64 } from "viceroy/schema";
import type { FailureCause } from "./supervision.js";

/** What a driver says of itself first. */
export interface HostTerms {
  /** The version of Viceroy. */
  viceroy: string;
  /** The fingerprint of the agents of processes, as the driver knows them: it gives them orders. */
  procAgent: Uint64;
  /** The same of the agents of hosts. */
  hostAgent: Uint64;
  /**
   * How long the host waits for the next beat before it ends the driver's processes, in milliseconds. Absent: none will come,
   * and the end of the link is the end of the driver.
   */
  keepAlive?: Uint32;
}

/** What a host says of itself. */
export interface HostInfo {
  /** The daemon, whatever address leads to it. */
  daemon: Uint64;
  pid: Uint32;
  /** As the machine calls itself. */
  hostname: string;
  /** The version of Node.js. */
  node: string;
  /** The version of Viceroy. */
  viceroy: string;
}

/** One size of a mesh. */
export interface Dimension {
  name: string;
  size: Uint32;
}

/** The order to start one process. */
export interface StartOrder {
  proc: Uint64;
  /** Who gives it orders. */
  maker: Uint64;
  /** Its place in its mesh. */
  rank: Uint32;
  /** Outermost first. */
  extent: Dimension[];
  /** Where it is said to be, in references to it: on this host, by the address that the driver dials. */
  location: string;
  /** Names it in lists of processes. */
  label: string;
  /** On top of the host's environment. */
  env: Record<string, string>;
  /** Variables that are not handed down. */
  unset: string[];
  /** Options of Node.js. */
  execArgv: string[];
  /** Processors, as `taskset -c` takes them. */
  cpus?: string;
  /** Whether anybody wants what it prints. */
  output: boolean;
}

/** `terminate`: SIGTERM, to the process. `kill`: SIGKILL, to it and all that it has started. */
export type HostSignal = "terminate" | "kill";

/** A process has ended. */
export interface ProcessEnding {
  proc: Uint64;
  /** It has run; otherwise it has never started. */
  ran: boolean;
  cause: FailureCause;
  /** It has left by itself, with exit code 0. */
  clean: boolean;
}

/** Lines that a process has printed. */
export interface ProcessOutput {
  proc: Uint64;
  /** Standard error; otherwise standard output. */
  stderr: boolean;
  lines: string[];
  /** Lines that were left out before these, because nobody took them in time. */
  dropped: Uint32;
}

/** Where a process takes links itself. */
export interface OwnPort {
  /** Of the host's address. Absent: it is reached through the host alone. */
  port?: Uint32;
}

export interface HostAgent extends Actor {
  /**
   * Comes first. Refused where driver and host don't fit together.
   * @concurrent
   */
  attach(terms: HostTerms): HostInfo;
  /**
   * Answers when the process has been started and can be reached through this host. How it ends is told then.
   * @concurrent
   */
  start(order: StartOrder): void;
  /**
   * Answers when the process has come so far that it can listen.
   * @concurrent
   */
  portOf(proc: Uint64): OwnPort;
  /**
   * No effect on one that has ended.
   * @concurrent
   */
  signal(proc: Uint64, signal: HostSignal): void;
  /**
   * Ends all processes of this driver, answers, and forgets the driver.
   * @concurrent
   */
  leave(reason: string): void;
  /**
   * Ends the daemon, and with it the processes of all drivers. Answers when they have ended.
   * @concurrent
   */
  shutdown(reason: string): void;
  /**
   * Answers at once: the host is there, and the driver's machine is. Refused when this is not, or no more, the driver's agent.
   * @concurrent
   */
  beat(): void;
  /**
   * The driver has ended, as its machine knows for certain: its processes are ended at once.
   * @concurrent
   */
  driverEnded(reason: string): void;
}
