/** The state of a simulation: processes, the network between them, and their common time. */
import type { Pipe } from "../link/transport/pipe.js";
import { SimulatedActorClasses } from "./actor-classes.js";
import { EventTrace } from "./event-trace.js";
import type { CausedFault } from "./faults.js";
import { type NetworkOptions, SimulatedNetwork } from "./network.js";
import { Scheduler } from "./scheduler.js";
import { SimulatedProcess, type SimulatedProcessOptions } from "./simulated-process.js";

/** A process that is about to be started. */
export interface NewProcess {
  /** The prefix of its output: `gpus=1`. */
  readonly label: string;
  /** Its rank in the mesh that was spawned, from 0. */
  readonly rank: number;
  /** The process that spawns it; `host` is the name of its host. */
  readonly maker: { readonly host: string };
}

export interface WorldOptions extends NetworkOptions {
  readonly seed: number;
  readonly recording: boolean;
  readonly place: ((process: NewProcess) => string) | undefined;
}

/** The process that listens at a location or address. */
export interface SimulatedListener {
  readonly owner: SimulatedProcess;
  readonly accept: (pipe: Pipe) => void;
}

export class World {
  readonly seed: number;
  readonly trace: EventTrace;
  readonly scheduler: Scheduler;
  readonly network: SimulatedNetwork;
  readonly classes = new SimulatedActorClasses();
  readonly processes: SimulatedProcess[] = [];
  /** The processes that have not ended, in the order in which they were started. */
  readonly living = new Set<SimulatedProcess>();
  readonly daemons = new Set<SimulatedProcess>();
  /** Programs by their universes. */
  readonly programs = new Map<bigint, SimulatedProcess>();
  /** The planned faults that have happened. */
  readonly faults: CausedFault[] = [];
  /** The next unused port. */
  #nextPort = 40_000;
  /** Number of times that bytes have arrived at a process. */
  arrivalCount = 0;
  readonly #hostFor: WorldOptions["place"];
  /** Listeners by their locations and addresses. */
  readonly listeners = new Map<string, SimulatedListener>();

  constructor({ seed, recording, place, ...network }: WorldOptions) {
    this.seed = seed;
    this.trace = new EventTrace(recording);
    this.scheduler = new Scheduler(seed, this.trace);
    this.network = new SimulatedNetwork(this.scheduler, seed, network);
    this.#hostFor = place;
  }

  hostFor(made: NewProcess): string {
    return this.#hostFor?.(made) ?? made.maker.host;
  }

  createProcess(options: SimulatedProcessOptions): SimulatedProcess {
    const made = new SimulatedProcess(this, this.processes.length + 1, options);
    this.processes.push(made);
    this.living.add(made);
    return made;
  }

  freePort(): number {
    return this.#nextPort++;
  }

  /** Starts `viceroy host` on a host. A host that has crashed is started again. */
  startDaemon(host: string, port: number, token: string | undefined): SimulatedProcess {
    const made = this.createProcess({ host, label: "host", rank: 0, parent: undefined });
    this.network.crashedHosts.delete(host);
    this.daemons.add(made);
    this.scheduler.schedule(this.scheduler.now, made, "start", () => made.bootDaemon(port, token));
    return made;
  }

  noteArrival(by: SimulatedProcess, bytes: number, sum: number): void {
    this.arrivalCount++;
    this.trace.note(this.scheduler.now, by.name, "heard", sum, () => `${bytes} bytes`);
  }

  /** Removes a process that has ended. */
  processEnded(owner: SimulatedProcess): void {
    this.living.delete(owner);
    for (const place of owner.addresses) {
      if (this.listeners.get(place)?.owner === owner) this.listeners.delete(place);
    }
  }
}
