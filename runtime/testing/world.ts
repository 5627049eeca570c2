/** The state of a simulation: processes, the network between them, and their common time. */
import { SimulatedActorClasses } from "./actor-classes.js";
import { EventTrace } from "./event-trace.js";
import type { CausedFault } from "./fault.js";
import { type NetworkOptions, SimulatedNetwork } from "./network.js";
import type { NewProcess, ProcessRef, SimulatedListener, SimulatedProcessOptions, WorldRef } from "./references.js";
import { Scheduler } from "./scheduler.js";
import { SimulatedProcess } from "./simulated-process.js";

export interface WorldOptions extends NetworkOptions {
  readonly seed: number;
  readonly recording: boolean;
  readonly place: ((process: NewProcess) => string) | undefined;
}

export class World implements WorldRef<SimulatedProcess> {
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
  readonly sharedMemory = new Map<string, Uint32Array>();
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

  noteArrival(by: ProcessRef, bytes: number, sum: number): void {
    this.arrivalCount++;
    this.trace.note(this.scheduler.now, by.name, "heard", sum, () => `${bytes} bytes`);
  }

  /** Removes a process that has ended. */
  processEnded(owner: ProcessRef): void {
    this.living.delete(owner as SimulatedProcess);
    for (const place of owner.addresses) {
      if (this.listeners.get(place)?.owner === owner) this.listeners.delete(place);
    }
  }
}
