/**
 * The load of a program on a mesh of tallies: messages, casts, calls, streams, ports and large values. All are
 * numbered, so that lost, repeated and reordered messages are detected. Every operation must end, and may fail only
 * with the documented errors.
 */
import { ActorError, Channel, codec, SupervisionError } from "viceroy";
import type { TallyMesh } from "../fixtures/crew/generated/tally.js";

/** The weights of the operations. */
const operations = {
  notes: 6,
  add: 6,
  cast: 4,
  settled: 2,
  stream: 2,
  feed: 2,
  echo: 1,
  gossip: 3,
  hive: 2,
} as const;
type Operation = keyof typeof operations;
const weighted = Object.entries(operations).flatMap(([name, times]) => Array<Operation>(times).fill(name as Operation));

export interface LoadOptions {
  readonly name: string;
  readonly seed: number;
  /** Number of concurrent operations. */
  readonly workers: number;
  /** Pause between two operations of a worker, in ms. */
  readonly pause: number;
  /** Number of bytes of a large value. */
  readonly large: number;
  /** Ranks with which the actors exchange messages, after `meet`. */
  readonly peers: number;
  /** Number of inline procs of each process that get casts on a tree. */
  readonly cells: number;
}

interface Hive {
  readonly mesh: TallyMesh;
  readonly from: string;
  casts: number;
}

export class Load {
  /** The detected violations. */
  readonly violations: string[] = [];
  /** Number of successful operations, and of failed ones by error. */
  done = 0;
  readonly refused = new Map<string, number>();
  readonly #mesh: TallyMesh<"hosts" | "gpus">;
  readonly #ranks: TallyMesh[];
  readonly #options: LoadOptions;
  readonly #random: () => number;
  readonly #direct: number[];
  readonly #hives = new Map<number, Hive>();
  readonly #pending = new Map<object, { readonly what: string; readonly since: number }>();
  #casts = 0;
  #hired = 0;
  #workers: Promise<void>[] = [];
  #running = false;

  constructor(mesh: TallyMesh<"hosts" | "gpus">, options: LoadOptions) {
    this.#mesh = mesh;
    this.#ranks = [...mesh].map(([, one]) => one as TallyMesh);
    this.#options = options;
    this.#random = seeded(options.seed);
    this.#direct = this.#ranks.map(() => 0);
  }

  start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#workers = Array.from({ length: this.#options.workers }, () => this.#work());
  }

  /** Resolves when all started operations have ended. */
  async stop(): Promise<void> {
    this.#running = false;
    await Promise.all(this.#workers);
  }

  /** Returns the running operations with their age in ms, the oldest first. */
  get pending(): string[] {
    const now = performance.now();
    return [...this.#pending.values()].map(({ what, since }) => `${what} (${Math.round(now - since)} ms)`);
  }

  /** Checks that each existing rank has handled all its messages: the last one is a call, which is answered. */
  async confirm(): Promise<void> {
    for (const rank of this.#ranks.keys()) await this.#ask(`add to ${rank}`, () => this.#add(rank));
  }

  async #work(): Promise<void> {
    while (this.#running) {
      const rank = Math.floor(this.#random() * this.#ranks.length);
      const operation = weighted[Math.floor(this.#random() * weighted.length)]!;
      await this.#ask(`${operation} ${rank}`, () => this.#do(operation, rank, Math.floor(this.#random() * 40)));
      await new Promise((resolve) => setTimeout(resolve, this.#options.pause));
    }
  }

  async #ask(what: string, how: () => Promise<void>): Promise<void> {
    const key = {};
    this.#pending.set(key, { what: `${this.#options.name}: ${what}`, since: performance.now() });
    try {
      await how();
      this.done++;
    } catch (error) {
      if (error instanceof SupervisionError || isRefusal(error)) {
        this.refused.set(error.name, (this.refused.get(error.name) ?? 0) + 1);
      } else this.violations.push(`${what} ended with ${String(error)}`);
    } finally {
      this.#pending.delete(key);
    }
  }

  async #do(operation: Operation, rank: number, n: number): Promise<void> {
    const one = this.#ranks[rank]!;
    switch (operation) {
      case "notes":
        for (let i = 0; i < n; i++) this.#next(rank, (number) => void one.note.broadcast(...number));
        await this.#next(rank, (number) => one.note.broadcast(...number));
        return;
      case "add":
        return this.#add(rank);
      case "cast":
        await this.#mesh.noteAll.broadcast(this.#options.name, ++this.#casts);
        return;
      case "settled":
        await this.#settled(n % 10);
        return;
      case "stream":
        return this.#stream(one, 4 * n);
      case "feed":
        return this.#feed(one, 4 * n);
      case "echo":
        return this.#echo(one, n);
      case "gossip":
        if (this.#options.peers > 0) await one.gossip.callOne(n % this.#options.peers, n);
        return;
      case "hive":
        if (this.#options.cells > 0) await this.#cast(rank);
        return;
    }
  }

  /** Assigns a number to a message to one rank, unless sending fails at once. */
  #next<T>(rank: number, send: (number: [from: string, direct: number, casts: number]) => T): T {
    const number = this.#direct[rank]! + 1;
    const sent = send([this.#options.name, number, this.#casts]);
    this.#direct[rank] = number;
    return sent;
  }

  async #add(rank: number): Promise<void> {
    let expected = 0;
    const answer = await this.#next(rank, (number) => {
      expected = number[1];
      return this.#ranks[rank]!.add.callOne(...number);
    });
    if (answer !== expected) this.violations.push(`add of ${expected} was answered with ${answer}`);
  }

  async #settled(ms: number): Promise<void> {
    for (const answer of (await this.#mesh.sleep.callSettled(ms)).values()) {
      if (answer.status === "rejected") throw answer.reason;
      if (answer.value !== ms) this.violations.push(`sleep of ${ms} was answered with ${answer.value}`);
    }
  }

  async #stream(one: TallyMesh, count: number): Promise<void> {
    let next = 0;
    for await (const [, value] of one.count.stream(count)) {
      if (value !== next) this.violations.push(`a stream yielded ${value} in place of ${next}`);
      next++;
    }
    if (next !== count) this.violations.push(`a stream ended after ${next} of ${count}`);
  }

  async #feed(one: TallyMesh, count: number): Promise<void> {
    const [port, receiver] = Channel.open(codec.uint32);
    try {
      one.feed.broadcast(port, count);
      for (let next = 0; next < count; next++) {
        const value = await receiver.recv();
        if (value !== next) this.violations.push(`a port got ${value} in place of ${next}`);
      }
    } finally {
      receiver.close();
    }
  }

  async #echo(one: TallyMesh, n: number): Promise<void> {
    const sent = new Uint8Array(this.#options.large).fill(n + 1);
    const back = await one.echo.callOne(sent);
    if (Buffer.compare(sent, back) !== 0) this.violations.push(`${sent.length} bytes came back as others`);
  }

  /** Casts to so many actors that a tree is used. */
  async #cast(rank: number): Promise<void> {
    let hive = this.#hives.get(rank);
    if (hive === undefined) {
      const mesh = await this.#ranks[rank]!.hive.callOne(this.#options.cells);
      hive = this.#hives.get(rank) ?? { mesh, from: `${this.#options.name} hive ${++this.#hired}`, casts: 0 };
      this.#hives.set(rank, hive);
    }
    try {
      for (let i = 0; i < 3; i++) void hive.mesh.noteAll.broadcast(hive.from, ++hive.casts);
      await hive.mesh.noteAll.call(hive.from, ++hive.casts);
    } catch (error) {
      // The process has ended. The next one has other inline procs.
      if (this.#hives.get(rank) === hive) this.#hives.delete(rank);
      throw error;
    }
  }
}

/** The errors of calls of lost actors, also if a called actor has called the lost one. */
function isRefusal(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if (error instanceof ActorError) return error.remoteName === "SupervisionError";
  return error.name === "PortClosedError";
}

/** Returns a generator of numbers from 0 to 1 that a seed determines. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
