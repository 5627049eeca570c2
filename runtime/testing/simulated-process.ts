/** One simulated process: its runtime, its parent, and how it ends. Its platform is in `simulated-platform.ts`. */
import type { NetworkAddress, SocketAddress } from "../link/transport/network-address.js";
import type { Pipe } from "../link/transport/pipe.js";
import type { ProcExit, ProcIdentity } from "../proc/launch/proc-backend.js";
import type { ShutdownTarget } from "../proc/platform/shutdown.js";
import type { SimulatedConnection } from "./connection.js";
import { DeferredTasks } from "./deferred-tasks.js";
import { listenAt } from "./dial.js";
import { HostListener, ProcessRuntime, runChild, runInTurn, setMainRoot } from "./kernel.js";
import { killOrphansLater } from "./orphan-reaper.js";
import type { ProcessRef, SimulatedProcessOptions, WorldRef } from "./references.js";
import type { ScheduledTask } from "./scheduler.js";
import { Seeded } from "./seeded-random.js";
import { SimulatedClock } from "./simulated-clock.js";
import { SimulatedPlatform } from "./simulated-platform.js";

/** Maximum time in ms until the parent learns of the end of a process. */
const MAX_STATUS_DELAY_MS = 5;

/** A simulated process. One of the `boot` methods starts it. */
export class SimulatedProcess implements ProcessRef {
  readonly world: WorldRef<SimulatedProcess>;
  readonly pid: number;
  readonly name: string;
  readonly tieBreaker: number;
  readonly options: SimulatedProcessOptions;
  readonly clock: SimulatedClock;
  readonly random: Seeded;
  busyUntil = 0;
  readonly deferred = new DeferredTasks<ScheduledTask>();
  readonly connections = new Set<SimulatedConnection>();
  /** The locations and addresses at which the process listens. */
  readonly addresses = new Set<string>();
  /** Number of calls of a program that wait for an answer. */
  openCalls = 0;
  /** The shutdown that a program has registered. */
  shutdownTarget: ShutdownTarget | undefined;
  /** The runtime; undefined until the process has started. */
  runtime: ProcessRuntime | undefined;
  #isProgram = false;
  #end: ProcExit | undefined;
  #stopInOrder: ((reason: string) => Promise<void>) | undefined;
  #whenEnded: ((end: ProcExit) => void) | undefined;
  readonly #children: ProcessRef[] = [];
  readonly #printed: string[] = [];

  constructor(world: WorldRef<SimulatedProcess>, pid: number, options: SimulatedProcessOptions) {
    this.world = world;
    this.pid = pid;
    this.options = options;
    this.name = `${options.label}@${options.host}#${pid}`;
    this.random = new Seeded(world.seed, `process ${pid}`);
    this.tieBreaker = this.random.bits();
    this.clock = new SimulatedClock(world.scheduler, this);
    options.parent?.addChild(this);
  }

  get host(): string {
    return this.options.host;
  }

  /**
   * The machine whose sockets the process can reach: that of its parent, even if the process runs on another host of
   * the simulated network.
   */
  get machine(): string {
    return this.options.parent?.machine ?? this.host;
  }

  /** The program of its process tree; undefined for a daemon. */
  get program(): SimulatedProcess | undefined {
    const { universe } = this.options;
    return universe === undefined ? (this.#isProgram ? this : undefined) : this.world.programs.get(universe);
  }

  get ended(): boolean {
    return this.#end !== undefined;
  }

  /** The last 20 lines of its output. */
  get printed(): string {
    return this.#printed.join("").split("\n").slice(-20).join("\n");
  }

  /** The cause of the end of the process, as text; undefined while it runs. */
  get end(): string | undefined {
    return this.#end?.cause.message;
  }

  addChild(child: ProcessRef): void {
    this.#children.push(child);
  }

  enter(): void {
    setMainRoot(this.runtime?.mainProc.proc.root);
  }

  uncaughtError(error: unknown): void {
    this.print(`uncaught: ${error instanceof Error ? error.stack : String(error)}\n`);
    this.exit(1);
  }

  bytesArrived(bytes: number, sum: number): void {
    this.world.noteArrival(this, bytes, sum);
  }

  /** Starts the process as a program. */
  bootProgram(main: () => void): void {
    const runtime = this.#startRuntime(new ProcessRuntime(new SimulatedPlatform(this), undefined, () => {}));
    this.#isProgram = true;
    this.world.programs.set(runtime.universe, this);
    runInTurn(runtime.mainProc.proc.root.turn, main);
  }

  /** Stops everything that the program owns, so that it can exit. */
  async endProgram(drain: number): Promise<void> {
    await this.shutdownTarget?.stop({ reason: "the program has ended", drain });
    // Messages that could not be delivered are reported in a later turn.
    await new Promise<void>((resolve) => this.clock.after(1, resolve));
  }

  /** Starts the process as `viceroy host`. @throws Error if another process listens at the port */
  bootDaemon(port: number, token: string | undefined): void {
    const { world, clock, random, host } = this;
    const proof = token === undefined ? {} : { token };
    const platform = () => new SimulatedPlatform(this);
    const address: NetworkAddress = { kind: "tcp", host, port };
    const connectSocket = (to: SocketAddress, signal: AbortSignal) => platform().connectSocket(to, signal);
    const machine = { clock, random, hostname: host, platform, connectSocket, addresses: [address] };
    const listener = new HostListener({ ...machine, proof });
    listenAt(world, this, address, (pipe) => listener.accept("tcp", pipe));
    this.#stopInOrder = (reason) => listener.end(reason);
    void listener.daemon.ended.then(() => this.exit());
  }

  /** Starts the process as the child of another process. */
  bootChild(identity: ProcIdentity, pipe: Pipe): void {
    this.#stopInOrder = runChild(identity, pipe, (who, leave) =>
      this.#startRuntime(new ProcessRuntime(new SimulatedPlatform(this), who, leave)),
    );
  }

  /** Sets the function that is called when the parent learns of the end of this process. */
  whenEnded(task: (end: ProcExit) => void): void {
    this.#whenEnded = task;
  }

  print(text: string): void {
    this.#printed.push(text);
    this.world.trace.note(this.world.scheduler.now, this.name, "print", text.length, () => text.trimEnd());
  }

  /** Sends SIGTERM: the process ends by itself, in order. */
  terminate(): void {
    const { scheduler } = this.world;
    scheduler.schedule(scheduler.now + 0.1, this, "SIGTERM", () => {
      const ended = () => this.finish({ message: `process ${this.pid} was killed by SIGTERM` });
      if (this.#stopInOrder === undefined) ended();
      else this.#stopInOrder("the process was ended by SIGTERM").then(ended, ended);
    });
  }

  /** Sends SIGKILL: the process ends immediately. */
  kill(): void {
    this.finish({ message: `process ${this.pid} was killed by SIGKILL` });
  }

  exit(code = 0): void {
    this.finish({ message: `process ${this.pid} exited with code ${code}`, clean: code === 0 });
  }

  /** Ends the process, for any reason. @param crashed whether its host has crashed; others then notice its end later */
  finish({ message, clean = false }: { readonly message: string; readonly clean?: boolean }, crashed = false): void {
    if (this.#end !== undefined) return;
    const { scheduler, trace } = this.world;
    trace.note(scheduler.now, this.name, "ended", 0, () => message);
    const last = this.printed;
    const cause = { name: "ProcessEnd", message };
    const end: ProcExit = {
      kind: "process",
      clean,
      cause: last === "" ? cause : { ...cause, cause: { name: "its standard error", message: `\n${last}` } },
    };
    this.#end = end;
    for (const { near, far } of [...this.connections]) {
      if (near.member === this) near.abandon(crashed);
      if (far.member === this) far.abandon(crashed);
    }
    this.world.processEnded(this);
    const { parent } = this.options;
    if (parent !== undefined && !parent.ended) {
      const delay = crashed ? 15_000 : this.random.between(0.05, MAX_STATUS_DELAY_MS);
      scheduler.schedule(scheduler.now + delay, parent, "exit status", () => this.#whenEnded?.(end));
    }
    killOrphansLater(
      this.world,
      this.#children.filter(({ host }) => host === this.host),
    );
  }

  #startRuntime(runtime: ProcessRuntime): ProcessRuntime {
    this.runtime = runtime;
    const { root } = runtime.mainProc.proc;
    // One turn must run while no main root is set. From then on the asynchronous context follows code across awaits.
    setMainRoot(undefined);
    runInTurn(root.turn, () => {});
    setMainRoot(root);
    return runtime;
  }
}
