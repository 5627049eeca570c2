/** Simulated processes and their world, as they refer to each other. */
import type { Pipe } from "../link/transport/pipe.js";
import type { ProcExit, ProcIdentity } from "../proc/launch/proc-backend.js";
import type { ShutdownTarget } from "../proc/platform/shutdown.js";
import type { SimulatedActorClasses } from "./actor-classes.js";
import type { ConnectedProcess } from "./connection.js";
import type { EventTrace } from "./event-trace.js";
import type { SimulatedNetwork } from "./network.js";
import type { Scheduler } from "./scheduler.js";
import type { Seeded } from "./seeded-random.js";
import type { SimulatedClock } from "./simulated-clock.js";

/** A process that is about to be started. */
export interface NewProcess {
  /** The prefix of its output: `gpus=1`. */
  readonly label: string;
  /** Its rank in the mesh that was spawned, from 0. */
  readonly rank: number;
  /** The process that spawns it; `host` is the name of its host. */
  readonly maker: { readonly host: string };
}

export interface SimulatedProcessOptions {
  readonly host: string;
  /** The name that its parent has given it: `gpus=1`. */
  readonly label: string;
  readonly rank: number;
  readonly parent: ProcessRef | undefined;
  /** The universe of its process tree, if another process has started it. */
  readonly universe?: bigint;
}

/** The process that listens at a location or address. */
export interface SimulatedListener {
  readonly owner: ProcessRef;
  readonly accept: (pipe: Pipe) => void;
}

/** A simulated process, as its platform and its world use it. */
export interface ProcessRef extends ConnectedProcess {
  readonly world: WorldRef;
  readonly pid: number;
  readonly name: string;
  readonly clock: SimulatedClock;
  readonly random: Seeded;
  /** The machine whose sockets the process can reach. */
  readonly machine: string;
  readonly ended: boolean;
  /** The locations and addresses at which the process listens. */
  readonly addresses: Set<string>;
  busyUntil: number;
  openCalls: number;
  shutdownTarget: ShutdownTarget | undefined;
  addChild(child: ProcessRef): void;
  /** Starts the process as the child of another process. */
  bootChild(identity: ProcIdentity, pipe: Pipe): void;
  /** Sets the function that is called when the parent learns of the end of this process. */
  whenEnded(task: (end: ProcExit) => void): void;
  print(text: string): void;
  terminate(): void;
  kill(): void;
  exit(code?: number): void;
}

/** The world, as its processes use it. */
export interface WorldRef<P extends ProcessRef = ProcessRef> {
  readonly seed: number;
  readonly scheduler: Scheduler;
  readonly trace: EventTrace;
  readonly network: SimulatedNetwork;
  readonly classes: SimulatedActorClasses;
  /** Programs by their universes. */
  readonly programs: Map<bigint, P>;
  /** Listeners by their locations and addresses. */
  readonly listeners: Map<string, SimulatedListener>;
  /** Memory that processes share, by its name. */
  readonly sharedMemory: Map<string, Uint32Array>;
  /** Returns the host on which a new process runs. */
  hostFor(process: NewProcess): string;
  createProcess(options: SimulatedProcessOptions): P;
  freePort(): number;
  noteArrival(by: ProcessRef, bytes: number, sum: number): void;
  /** Removes a process that has ended. */
  processEnded(owner: ProcessRef): void;
}
