/** One simulated process: what lives in it, whom it was made by, how it ends. What it finds of a machine is platform.ts. */
import type { NetworkAddress } from "../link/network-address.js";
import type { Pipe } from "../link/pipe.js";
import type { ProcExit, ProcIdentity } from "../proc/launch/proc-backend.js";
import type { ShutdownTarget } from "../proc/platform/shutdown.js";
import { SimulatedClock } from "./clock.js";
import type { Connection, Member } from "./connection.js";
import { listenAt } from "./dial.js";
import { HostListener, ProcessRuntime, runChild, runInTurn, setMainRoot } from "./kernel.js";
import { Parked } from "./parked.js";
import { SimulatedPlatform } from "./platform.js";
import { Seeded } from "./seeded.js";
import { killSoon } from "./watcher.js";
import type { World } from "./world.js";

export interface ProcessOptions {
  readonly host: string;
  /** As its maker calls it: `gpus=1`. */
  readonly label: string;
  readonly rank: number;
  readonly maker: SimulatedProcess | undefined;
  /** Whose tree it is in, if it was made. */
  readonly universe?: bigint;
}

/** How long after the end of a process its maker knows of it, in ms, at most. */
const statusDelay = 5;

export class SimulatedProcess implements Member {
  readonly world: World;
  readonly pid: number;
  readonly name: string;
  readonly tie: number;
  readonly options: ProcessOptions;
  readonly clock: SimulatedClock;
  readonly random: Seeded;
  busyUntil = 0;
  readonly parked = new Parked();
  readonly connections = new Set<Connection>();
  /** Where it listens. */
  readonly places = new Set<string>();
  /** Calls of a program that wait for an answer. */
  waiting = 0;
  /** What a program says it wants to be ended in order. */
  endable: ShutdownTarget | undefined;
  /** Known when it has started. */
  local: ProcessRuntime | undefined;
  #isProgram = false;
  #end: ProcExit | undefined;
  #stop: ((reason: string) => Promise<void>) | undefined;
  #whenEnded: ((end: ProcExit) => void) | undefined;
  readonly #made: SimulatedProcess[] = [];
  readonly #printed: string[] = [];

  constructor(world: World, pid: number, options: ProcessOptions) {
    this.world = world;
    this.pid = pid;
    this.options = options;
    this.name = `${options.label}@${options.host}#${pid}`;
    this.random = new Seeded(world.seed, `process ${pid}`);
    this.tie = this.random.bits();
    this.clock = new SimulatedClock(world.scheduler, this);
    if (options.maker !== undefined) options.maker.#made.push(this);
  }

  get host(): string {
    return this.options.host;
  }

  /** The machine whose sockets it finds: that of its maker, wherever on the network it is said to be. */
  get machine(): string {
    return this.options.maker?.machine ?? this.host;
  }

  /** The program whose tree it belongs to; undefined: it is a daemon. */
  get program(): SimulatedProcess | undefined {
    const { universe } = this.options;
    return universe === undefined ? (this.#isProgram ? this : undefined) : this.world.programs.get(universe);
  }

  get ended(): boolean {
    return this.#end !== undefined;
  }

  /** What it has printed, the last of it. */
  get printed(): string {
    return this.#printed.join("").split("\n").slice(-20).join("\n");
  }

  /** How it ended, in words. */
  get end(): string | undefined {
    return this.#end?.cause.message;
  }

  enter(): void {
    setMainRoot(this.local?.mainProc.proc.root);
  }

  threw(error: unknown): void {
    this.print(`uncaught: ${error instanceof Error ? error.stack : String(error)}\n`);
    this.exit(1);
  }

  heard(bytes: number, sum: number): void {
    this.world.heard(this, bytes, sum);
  }

  /** Begins as a program. */
  bootProgram(main: () => void): void {
    const local = this.#become(new ProcessRuntime(new SimulatedPlatform(this), undefined, () => {}));
    this.#isProgram = true;
    this.world.programs.set(local.universe, this);
    runInTurn(local.mainProc.proc.root.turn, main);
  }

  /** Ends what the program owns, and then the program. */
  async endProgram(drain: number): Promise<void> {
    await this.endable?.stop({ reason: "the program has ended", drain });
    // What has come back is told in a turn of its own.
    await new Promise<void>((resolve) => this.clock.after(1, resolve));
  }

  /** Begins as `viceroy host`. @throws Error if somebody listens there already */
  bootDaemon(port: number, token: string | undefined): void {
    const { world, clock, random, host } = this;
    const proof = token === undefined ? {} : { token };
    const platform = () => new SimulatedPlatform(this);
    const address: NetworkAddress = { kind: "tcp", host, port };
    const machine = { clock, random, hostname: host, platform, addresses: [address] };
    const reception = new HostListener({ ...machine, proof });
    listenAt(world, this, address, (pipe) => reception.accept("tcp", pipe));
    this.#stop = (reason) => reception.end(reason);
    void reception.daemon.ended.then(() => this.exit());
  }

  /** Begins as what another process has made. */
  bootChild(identity: ProcIdentity, pipe: Pipe): void {
    this.#stop = runChild(identity, pipe, (who, leave) =>
      this.#become(new ProcessRuntime(new SimulatedPlatform(this), who, leave)),
    );
  }

  /** What its maker does when it has ended. */
  whenEnded(task: (end: ProcExit) => void): void {
    this.#whenEnded = task;
  }

  print(text: string): void {
    this.#printed.push(text);
    this.world.trace.note(this.world.scheduler.now, this.name, "print", text.length, () => text.trimEnd());
  }

  /** SIGTERM: it ends by itself, in order. */
  terminate(): void {
    const { scheduler } = this.world;
    scheduler.at(scheduler.now + 0.1, this, "SIGTERM", () => {
      const ended = () => this.finish({ message: `process ${this.pid} was killed by SIGTERM` });
      if (this.#stop === undefined) ended();
      else this.#stop("the process was ended by SIGTERM").then(ended, ended);
    });
  }

  /** SIGKILL. */
  kill(): void {
    this.finish({ message: `process ${this.pid} was killed by SIGKILL` });
  }

  exit(code = 0): void {
    this.finish({ message: `process ${this.pid} exited with code ${code}`, clean: code === 0 });
  }

  /** Its end, of whatever. @param crashed its host has crashed: nobody hears of it for a while */
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
    this.world.left(this);
    const { maker } = this.options;
    if (maker !== undefined && !maker.ended) {
      const delay = crashed ? 15_000 : this.random.between(0.05, statusDelay);
      scheduler.at(scheduler.now + delay, maker, "exit status", () => this.#whenEnded?.(end));
    }
    killSoon(
      this.world,
      this.#made.filter(({ host }) => host === this.host),
    );
  }

  #become(local: ProcessRuntime): ProcessRuntime {
    this.local = local;
    const { root } = local.mainProc.proc;
    // Once outside of the root that is current: from then on code is followed across awaits.
    setMainRoot(undefined);
    runInTurn(root.turn, () => {});
    setMainRoot(root);
    return local;
  }
}
