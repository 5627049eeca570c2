/**
 * Two sides of a resumable link in this process, over connections that end at random places: in the handshake, in a
 * header, inside a message. Simulated time passes only when nothing else happens, and one seed determines every random
 * number.
 */
import type { Clock, Random } from "../../../runtime/link/clock.js";
import type { LinkOffer } from "../../../runtime/link/handshake/message.js";
import { type Admission, ResumableAcceptor } from "../../../runtime/link/resumable/accept.js";
import { dialResumable, type ResumableDialOptions } from "../../../runtime/link/resumable/dial.js";
import type { ResumableLimits } from "../../../runtime/link/resumable/limits.js";
import type { ResumablePipe } from "../../../runtime/link/resumable/pipe.js";
import { inProcessPipePair } from "../../../runtime/link/transport/in-process/pipe.js";
import type { Pipe, PipeSink } from "../../../runtime/link/transport/pipe.js";

/** mulberry32 */
export function drawing(seed: number): Random {
  let state = seed >>> 0;
  const word = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
  return {
    number: () => word() / 2 ** 32,
    id: () => (BigInt(word()) << 32n) | BigInt(word()) | 2n,
  };
}

interface Task {
  readonly at: number;
  readonly task: () => void;
}

/** A clock that stands still until the test advances it. */
export class ManualClock implements Clock {
  #now = 0;
  readonly #tasks = new Set<Task>();

  now(): number {
    return this.#now;
  }

  epochMs(): number {
    return this.#now;
  }

  after(ms: number, task: () => void): { cancel(): void } {
    const entry = { at: this.#now + ms, task };
    this.#tasks.add(entry);
    return { cancel: () => this.#tasks.delete(entry) };
  }

  nextTurn(task: () => void): void {
    setImmediate(task);
  }

  get waiting(): number {
    return this.#tasks.size;
  }

  /** Advances the clock by a number of milliseconds, and runs each task when it is due. */
  pass(ms: number): void {
    const end = this.#now + ms;
    while ([...this.#tasks].some(({ at }) => at <= end)) this.step();
    this.#now = end;
  }

  /** Advances the clock by a number of milliseconds without running any task, as if the process was stopped or busy. */
  sleep(ms: number): void {
    this.#now += ms;
  }

  /**
   * Advances the clock to the next task and runs the task.
   * @returns false if there is no task
   */
  step(): boolean {
    let next: Task | undefined;
    for (const task of this.#tasks) if (next === undefined || task.at < next.at) next = task;
    if (next === undefined) return false;
    this.#tasks.delete(next);
    this.#now = Math.max(this.#now, next.at);
    next.task();
    return true;
  }
}

/** A pipe that carries a number of bytes. Then it breaks and loses the bytes in transit, or drops all further bytes. */
export class Cut implements Pipe {
  readonly #pipe: Pipe;
  readonly #budget: { left: number };
  readonly #silently: boolean;

  constructor(pipe: Pipe, budget: { left: number }, silently: boolean) {
    this.#pipe = pipe;
    this.#budget = budget;
    this.#silently = silently;
  }

  open(sink: PipeSink): void {
    this.#pipe.open(sink);
  }

  write(chunks: readonly Uint8Array[], done: () => void): void {
    const passed: Uint8Array[] = [];
    for (const chunk of chunks) {
      const size = Math.min(chunk.length, this.#budget.left);
      this.#budget.left -= size;
      if (size > 0) passed.push(chunk.subarray(0, size));
    }
    this.#pipe.write(passed, done);
    if (this.#silently) return;
    // The pipe breaks in a later turn, so that any part of the written bytes may arrive.
    if (this.#budget.left === 0) setImmediate(() => this.#pipe.destroy(new Error("cut")));
  }

  close(): void {
    this.#pipe.close();
  }

  destroy(error?: Error): void {
    this.#pipe.destroy(error);
  }

  ref(): void {}

  unref(): void {}
}

export interface CutWorldOptions {
  readonly seed: number;
  /** Returns the number of bytes, in both directions together, that a connection carries before it breaks. */
  readonly budget: (random: Random) => number;
  /** Returns whether a connection becomes silent instead of breaking: for the bytes of the dialler, or in both directions. */
  readonly dumb?: (random: Random) => "no" | "dialler" | "both";
  readonly limits?: Partial<ResumableLimits>;
  readonly admit?: (offer: LinkOffer) => Admission;
}

export class CutWorld {
  readonly clock = new ManualClock();
  readonly random: Random;
  readonly acceptor: ResumableAcceptor;
  readonly accepted: Pipe[] = [];
  readonly refusals: string[] = [];
  /** All pipes to the acceptor's side, including ended ones. */
  readonly connections: Pipe[] = [];
  /** Whether new connections are refused. */
  unreachable = false;
  /** The number of turns of the event loop after which nothing else happens, so that time may pass. */
  protected readonly quietTurns: number = 6;
  readonly #options: CutWorldOptions;

  constructor(options: CutWorldOptions) {
    this.#options = options;
    this.random = drawing(options.seed);
    this.acceptor = new ResumableAcceptor({
      clock: this.clock,
      random: this.random,
      resumable: options.limits ?? {},
      admit: options.admit ?? (() => ({ kind: "open", open: (pipe) => this.accepted.push(pipe) })),
      onRefused: ({ message }) => this.refusals.push(message),
    });
  }

  dial(options: Partial<ResumableDialOptions> = {}): Promise<Pipe> {
    return dialResumable({
      clock: this.clock,
      random: this.random,
      universe: 1n,
      from: 2n,
      to: 3n,
      direct: false,
      peer: "the other side",
      limits: this.#options.limits ?? {},
      connect: () => this.connect(),
      ...options,
    });
  }

  async connect(): Promise<Pipe> {
    if (this.unreachable) throw new Error("nobody is there");
    const [near, far] = inProcessPipePair();
    const budget = { left: Math.max(1, Math.floor(this.#options.budget(this.random))) };
    this.connections.push(near);
    const dumb = this.#options.dumb?.(this.random) ?? "no";
    this.acceptor.accept(
      new Cut(far, dumb === "dialler" ? { left: Number.MAX_SAFE_INTEGER } : budget, dumb === "both"),
    );
    return new Cut(near, budget, dumb !== "no");
  }

  /** Dials a new link and returns the dialler's end. The acceptor knows of the link at the latest when data has been sent. */
  async started(): Promise<ResumablePipe> {
    let near: ResumablePipe | undefined;
    const dial = () => {
      this.dial().then((pipe) => {
        near = pipe as ResumablePipe;
      }, dial);
    };
    dial();
    await this.run(() => near !== undefined);
    return near!;
  }

  /** Returns the acceptor's end of the first link. */
  async met(): Promise<ResumablePipe> {
    await this.run(() => this.accepted.length > 0);
    return this.accepted[0] as ResumablePipe;
  }

  /** Runs the world until `done`. Time advances only when nothing else happens. */
  async run(done: () => boolean, steps = 3000): Promise<void> {
    for (let i = 0; i < steps; i++) {
      for (let quiet = 0; quiet < this.quietTurns; quiet++) {
        if (done()) return;
        await new Promise((resolve) => setImmediate(resolve));
      }
      this.clock.step();
    }
    throw new Error("it takes too long");
  }
}

/** Writes random bytes in pieces of random size, and records what comes. */
export class Talker implements PipeSink {
  sent = Buffer.alloc(0);
  readonly pipe: Pipe;
  readonly #received: Buffer[] = [];
  readonly #memory = Buffer.alloc(32 * 1024);
  readonly ends: (Error | undefined)[] = [];
  bytesHeard = 0;
  written = 0;

  constructor(pipe: Pipe, random: Random, bytes: number) {
    this.pipe = pipe;
    pipe.open(this);
    this.say(random, bytes);
  }

  say(random: Random, bytes: number): void {
    let at = this.sent.length;
    this.sent = Buffer.concat([this.sent, Buffer.alloc(bytes).map(() => Math.floor(random.number() * 256))]);
    while (at < this.sent.length) {
      const chunks: Uint8Array[] = [];
      for (let n = Math.floor(random.number() * 3); n >= 0; n--) {
        const size = Math.floor(random.number() ** 4 * 200_000);
        // The chunk is a copy that is overwritten after `done`, because the pipe must not read it later.
        chunks.push(new Uint8Array(this.sent.subarray(at, at + size)));
        at += size;
      }
      this.pipe.write(chunks, () => {
        this.written++;
        for (const chunk of chunks) chunk.fill(0);
      });
    }
  }

  get heard(): Buffer {
    return Buffer.concat(this.#received);
  }

  buffer(): Uint8Array {
    return this.#memory;
  }

  received(n: number): void {
    this.#received.push(Buffer.from(this.#memory.subarray(0, n)));
    this.bytesHeard += n;
  }

  closed(error?: Error): void {
    this.ends.push(error);
  }
}
