/**
 * The simulated network: hosts, how long bytes take between them, and who cannot reach whom at the moment. What goes over it
 * are connections like those of TCP (connection.ts): in order, complete, or broken.
 */
import { Connection, type Member, silence } from "./connection.js";
import type { Scheduler } from "./scheduler.js";
import { Seeded } from "./seeded.js";

/** The properties of the simulated network. */
export interface NetworkOptions {
  /** The shortest and the longest time that bytes take between two hosts, in milliseconds. Default: 0.1 and 0.5. */
  readonly latency?: readonly [number, number];
  /** The bandwidth of each connection, in bytes per millisecond. Default: 100,000, which is 100 MB/s. */
  readonly bandwidth?: number;
}

/** Somewhere. */
type Placed = Pick<Member, "host">;

/** In ms, between processes of one host. */
const localLatency: readonly [number, number] = [0.01, 0.05];

export class Network {
  readonly scheduler: Scheduler;
  readonly random: Seeded;
  readonly bandwidth: number;
  readonly connections = new Set<Connection>();
  readonly #latency: readonly [number, number];
  /** Until when bytes from one host do not reach another. */
  readonly #blocked = new Map<string, number>();
  /** Hosts that have crashed: whoever dials them gets no answer. */
  readonly down = new Set<string>();
  /** How many times longer bytes take, by each of those who have said so. */
  readonly #slow = new Set<{ readonly factor: number }>();

  constructor(scheduler: Scheduler, seed: number, { latency = [0.1, 0.5], bandwidth = 100_000 }: NetworkOptions) {
    this.scheduler = scheduler;
    this.random = new Seeded(seed, "network");
    this.#latency = latency;
    this.bandwidth = bandwidth;
  }

  connect(near: Member, far: Member): Connection {
    return new Connection(this, near, far);
  }

  /** Draws how long bytes take now, in ms. */
  latency(from: Placed, to: Placed): number {
    const [low, high] = from.host === to.host ? localLatency : this.#latency;
    const jitter = this.random.number();
    return (low + (high - low) * jitter * jitter * jitter) * this.#slowness;
  }

  get #slowness(): number {
    let slowest = 1;
    for (const { factor } of this.#slow) slowest = Math.max(slowest, factor);
    return slowest;
  }

  /** Bytes from one host do not reach another for so many ms. */
  block(from: string, to: string, ms: number): void {
    const key = `${from}>${to}`;
    const until = this.scheduler.now + ms;
    if (until > (this.#blocked.get(key) ?? 0)) this.#blocked.set(key, until);
    if (ms > silence) this.scheduler.at(this.scheduler.now + silence, undefined, "keep-alive", () => this.#forget(key));
  }

  /** Of connections that nothing comes through for long, the kernels give up some. */
  #forget(key: string): void {
    if ((this.#blocked.get(key) ?? 0) <= this.scheduler.now) return;
    for (const connection of [...this.connections]) {
      const [near, far] = connection.members().map(({ host }) => host);
      if (key !== `${near}>${far}` && key !== `${far}>${near}`) continue;
      if (this.random.chance(0.5)) connection.timeOut();
    }
  }

  /** Whether whoever dials gets an answer now, be it that nobody listens there. */
  answers(from: Member, to: string): boolean {
    if (this.down.has(to)) return false;
    const there = { host: to };
    return this.blockedUntil(from, there) === 0 && this.blockedUntil(there, from) === 0;
  }

  /** When bytes get through again; 0: they do. */
  blockedUntil(from: Placed, to: Placed): number {
    if (from.host === to.host) return 0;
    const until = this.#blocked.get(`${from.host}>${to.host}`) ?? 0;
    return until > this.scheduler.now ? until : 0;
  }

  /** Everything takes `factor` times longer for so many ms. Of several at a time the largest counts: some of them together are no outage. */
  slowDown(factor: number, ms: number): void {
    const slow = { factor };
    this.#slow.add(slow);
    this.scheduler.at(this.scheduler.now + ms, undefined, "speed up", () => this.#slow.delete(slow));
  }
}
