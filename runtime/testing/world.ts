/** Everything that is simulated: hosts, processes, the network between them, the time that all of them have. */
import type { Location } from "../link/address.js";
import type { Pipe } from "../link/pipe.js";
import { SimulatedClasses } from "./classes.js";
import type { CausedFault } from "./faults.js";
import { Network, type NetworkOptions } from "./network.js";
import { type ProcessOptions, SimulatedProcess } from "./process.js";
import { Scheduler } from "./scheduler.js";
import { Trace } from "./trace.js";

/** A process that is about to be started. */
export interface NewProcess {
  /** As in the prefix of its output: `gpus=1`. */
  readonly label: string;
  readonly rank: number;
  readonly maker: { readonly host: string };
}

export interface WorldOptions extends NetworkOptions {
  readonly seed: number;
  readonly recording: boolean;
  readonly place: ((process: NewProcess) => string) | undefined;
}

interface Listener {
  readonly owner: SimulatedProcess;
  readonly accept: (pipe: Pipe) => void;
}

/** How long somebody who cannot be reached is tried, in ms. */
const dialLimit = 1000;

export class World {
  readonly seed: number;
  readonly trace: Trace;
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly classes = new SimulatedClasses();
  readonly processes: SimulatedProcess[] = [];
  /** Faults that have come by themselves. */
  readonly faults: CausedFault[] = [];
  /** Pieces of bytes that have come. */
  arrivals = 0;
  readonly #place: WorldOptions["place"];
  readonly #listeners = new Map<Location, Listener>();

  constructor({ seed, recording, place, ...network }: WorldOptions) {
    this.seed = seed;
    this.trace = new Trace(recording);
    this.scheduler = new Scheduler(seed, this.trace);
    this.network = new Network(this.scheduler, seed, network);
    this.#place = place;
  }

  place(made: NewProcess): string {
    return this.#place?.(made) ?? made.maker.host;
  }

  make(options: ProcessOptions): SimulatedProcess {
    const made = new SimulatedProcess(this, this.processes.length + 1, options);
    this.processes.push(made);
    return made;
  }

  /** Those that live. */
  alive(): SimulatedProcess[] {
    return this.processes.filter(({ ended }) => !ended);
  }

  heard(by: SimulatedProcess, bytes: number, sum: number): void {
    this.arrivals++;
    this.trace.note(this.scheduler.now, by.name, "heard", sum, () => `${bytes} bytes`);
  }

  async listen(owner: SimulatedProcess, location: Location, accept: (pipe: Pipe) => void): Promise<void> {
    if (this.#listeners.has(location)) throw new Error(`cannot listen at ${location}: somebody does`);
    this.#listeners.set(location, { owner, accept });
  }

  dial(from: SimulatedProcess, location: Location): Promise<Pipe> {
    const { scheduler, network } = this;
    const listener = this.#listeners.get(location);
    return new Promise((resolve, reject) => {
      const refuse = (ms: number, why: string) =>
        scheduler.at(scheduler.now + ms, from, "refused", () =>
          reject(new Error(`cannot connect to ${location}: ${why}`)),
        );
      if (listener === undefined) {
        refuse(network.latency(from, from), "nobody listens there");
        return;
      }
      const { owner, accept } = listener;
      const there = network.latency(from, owner);
      const blocked = network.blockedUntil(from, owner) + network.blockedUntil(owner, from);
      if (blocked > 0) {
        refuse(dialLimit, "it does not answer");
        return;
      }
      const { near, far } = network.connect(from, owner);
      scheduler.at(scheduler.now + there, owner, "accept", () => accept(far));
      scheduler.at(scheduler.now + there + network.latency(owner, from), from, "connected", () => {
        if (near.ended) reject(new Error(`cannot connect to ${location}: the connection was reset`));
        else resolve(near);
      });
    });
  }

  /** A process has ended. */
  left(owner: SimulatedProcess): void {
    for (const [location, listener] of this.#listeners) {
      if (listener.owner === owner) this.#listeners.delete(location);
    }
  }
}
