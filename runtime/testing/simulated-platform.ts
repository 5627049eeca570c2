/** The platform of a simulated process. */
import { formatId, type Location, type ProcId } from "../link/address.js";
import type { Clock, Random } from "../link/clock.js";
import type { KeepAlive } from "../link/keep-alive.js";
import type { Listener } from "../link/transport/listener.js";
import type { NetworkAddress, SocketAddress } from "../link/transport/network-address.js";
import type { PausablePipe, Pipe } from "../link/transport/pipe.js";
import type { ProcBackend, ProcExit } from "../proc/launch/proc-backend.js";
import type { ActorClasses, ScopedPlatform, StartRequest } from "../proc/platform/platform.js";
import type { ShutdownTarget } from "../proc/platform/shutdown.js";
import { connectTo, dial, listen, listenAt } from "./dial.js";
import { neverDropped } from "./kernel.js";
import { killOrphansLater } from "./orphan-reaper.js";
import type { ProcessRef } from "./references.js";

/** The shortest and longest start time of a process, in ms. */
const START_DELAY_MS: readonly [number, number] = [1, 40];

export class SimulatedPlatform implements ScopedPlatform {
  readonly process: ProcessRef;
  readonly clock: Clock;
  readonly random: Random;
  readonly drops = neverDropped;
  readonly classes: ActorClasses;
  readonly keepAlive: KeepAlive;
  readonly pid: number;
  readonly node = process.version;
  readonly execArgv: readonly string[] = [];
  readonly #started: ProcessRef[] = [];

  constructor(owner: ProcessRef) {
    this.process = owner;
    this.clock = owner.clock;
    this.random = owner.random;
    this.classes = owner.world.classes;
    this.pid = owner.pid;
    this.keepAlive = {
      hold: () => void owner.openCalls++,
      release: () => void owner.openCalls--,
    };
  }

  runDirOf(): string {
    return "simulation";
  }

  makeRunDir(): void {}

  locationOf(runDir: string, id: ProcId): Location {
    return runDir === "" ? "" : `sim:${formatId(id)}`;
  }

  async listen(location: Location, accept: (pipe: Pipe) => void): Promise<void> {
    listen(this.process.world, this.process, location, accept);
  }

  dial(location: Location): Promise<Pipe> {
    return dial(this.process.world, this.process, location);
  }

  connect(address: NetworkAddress, _credentials: unknown, signal: AbortSignal): Promise<Pipe> {
    return connectTo(this.process.world, this.process, address, signal);
  }

  connectSocket({ host, port }: SocketAddress, signal: AbortSignal): Promise<PausablePipe> {
    return connectTo(this.process.world, this.process, { kind: "tcp", host, port }, signal);
  }

  /** Nobody listens in a simulated network, so nothing is encrypted. */
  async secure(pipe: PausablePipe): Promise<Pipe> {
    return pipe;
  }

  async listenAt(address: NetworkAddress, accept: (pipe: Pipe) => void): Promise<Listener> {
    return listenAt(this.process.world, this.process, address, accept);
  }

  start({ identity, label }: StartRequest): ProcBackend {
    const { process: parent } = this;
    const { world } = parent;
    const host = world.hostFor({ label, rank: identity.rank, maker: parent });
    const made = world.createProcess({ host, label, rank: identity.rank, parent, universe: identity.universe });
    this.#started.push(made);
    const { near, far } = world.network.connect(parent, made);
    const exited = new Promise<ProcExit>((resolve) => made.whenEnded(resolve));
    const { scheduler } = world;
    scheduler.schedule(scheduler.now + parent.random.between(...START_DELAY_MS), made, "start", () =>
      made.bootChild(identity, far),
    );
    const later = (what: string, task: () => void) =>
      void scheduler.schedule(scheduler.now + world.network.latency(parent, made), undefined, what, task);
    return {
      pipe: near,
      exited,
      outputEnded: exited,
      ref() {},
      terminate: () => later("terminate", () => made.terminate()),
      kill: () => later("kill", () => made.kill()),
    };
  }

  /**
   * Ends the processes that were started here. As at the end of the process, they have a moment to leave by themselves.
   */
  endAll(): void {
    killOrphansLater(this.process.world, this.#started.splice(0));
  }

  loaderFor(): undefined {
    return undefined;
  }

  simulatedMemory(name: string, words: number): Uint32Array {
    const { sharedMemory } = this.process.world;
    let memory = sharedMemory.get(name);
    if (memory === undefined) {
      memory = new Uint32Array(words);
      sharedMemory.set(name, memory);
    }
    return memory;
  }

  async useLoader(): Promise<void> {}

  importModule(url: string): Promise<unknown> {
    return Promise.reject(new Error(`cannot load ${url}: processes of a simulation load no modules`));
  }

  print(text: string): void {
    this.process.print(text);
  }

  warn(message: string, type: string): void {
    this.process.print(`(${type}) ${message}\n`);
  }

  registerShutdown(all: ShutdownTarget): void {
    this.process.shutdownTarget = all;
  }

  ignoreOutputErrors(): void {}

  flushOutput(): Promise<void> {
    return Promise.resolve();
  }

  exit(code?: number): void {
    this.process.exit(code);
  }
}
