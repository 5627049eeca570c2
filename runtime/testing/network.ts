/**
 * The simulated network: the delay of bytes between hosts, and the hosts that cannot reach each other at the moment.
 * Its connections (`connection.ts`) behave like those of TCP: bytes arrive in order and completely, or the connection
 * breaks.
 */
import { type ConnectedProcess, type ConnectionNetwork, SILENCE_MS, SimulatedConnection } from "./connection.js";
import type { OnHost } from "./flow.js";
import type { Scheduler } from "./scheduler.js";
import { Seeded } from "./seeded-random.js";

/** The properties of the simulated network. */
export interface NetworkOptions {
  /** The shortest and the longest time that bytes take between two hosts, in milliseconds. Default: 0.1 and 0.5. */
  readonly latency?: readonly [number, number];
  /** The bandwidth of each connection, in bytes per millisecond. Default: 100,000, which is 100 MB/s. */
  readonly bandwidth?: number;
}

/** Delay in ms between processes of one host. */
const LOCAL_LATENCY_MS: readonly [number, number] = [0.01, 0.05];

export class SimulatedNetwork implements ConnectionNetwork {
  readonly scheduler: Scheduler;
  readonly random: Seeded;
  readonly bandwidth: number;
  readonly connections = new Set<SimulatedConnection>();
  readonly #latency: readonly [number, number];
  /** Times until which bytes from one host do not reach another, by the two hosts. */
  readonly #blockedUntil = new Map<string, number>();
  /** Hosts that have crashed. Attempts to connect to them get no answer. */
  readonly crashedHosts = new Set<string>();
  /** The slowdowns that are active, as factors of the delay. */
  readonly #slowdowns = new Set<{ readonly factor: number }>();

  constructor(scheduler: Scheduler, seed: number, { latency = [0.1, 0.5], bandwidth = 100_000 }: NetworkOptions) {
    this.scheduler = scheduler;
    this.random = new Seeded(seed, "network");
    this.#latency = latency;
    this.bandwidth = bandwidth;
  }

  connect(near: ConnectedProcess, far: ConnectedProcess): SimulatedConnection {
    return new SimulatedConnection(this, near, far);
  }

  /** Returns a random delay for bytes that are sent now, in ms. */
  latency(from: OnHost, to: OnHost): number {
    const [low, high] = from.host === to.host ? LOCAL_LATENCY_MS : this.#latency;
    const jitter = this.random.number();
    return (low + (high - low) * jitter * jitter * jitter) * this.#slowness;
  }

  get #slowness(): number {
    let slowest = 1;
    for (const { factor } of this.#slowdowns) slowest = Math.max(slowest, factor);
    return slowest;
  }

  /** Blocks bytes from one host to another for `ms` milliseconds. */
  block(from: string, to: string, ms: number): void {
    const key = `${from}>${to}`;
    const until = this.scheduler.now + ms;
    if (until > (this.#blockedUntil.get(key) ?? 0)) this.#blockedUntil.set(key, until);
    if (ms > SILENCE_MS)
      this.scheduler.schedule(this.scheduler.now + SILENCE_MS, undefined, "keep-alive", () =>
        this.#giveUpConnections(key),
      );
  }

  /** Ends some of the connections that have been blocked for long, because the kernels give them up. */
  #giveUpConnections(key: string): void {
    if ((this.#blockedUntil.get(key) ?? 0) <= this.scheduler.now) return;
    for (const connection of [...this.connections]) {
      const [near, far] = connection.members().map(({ host }) => host);
      if (key !== `${near}>${far}` && key !== `${far}>${near}`) continue;
      if (this.random.chance(0.5)) connection.timeOut();
    }
  }

  /** Returns whether an attempt to connect gets an answer now, even a refusal. */
  answers(from: ConnectedProcess, to: string): boolean {
    if (this.crashedHosts.has(to)) return false;
    const there = { host: to };
    return this.blockedUntil(from, there) === 0 && this.blockedUntil(there, from) === 0;
  }

  /** Returns the time until which bytes are blocked, or 0 if they are not blocked. */
  blockedUntil(from: OnHost, to: OnHost): number {
    if (from.host === to.host) return 0;
    const until = this.#blockedUntil.get(`${from.host}>${to.host}`) ?? 0;
    return until > this.scheduler.now ? until : 0;
  }

  /**
   * Multiplies all delays by `factor` for `ms` milliseconds. Of several slowdowns at the same time only the largest
   * counts: multiplied, they could amount to an outage.
   */
  slowDown(factor: number, ms: number): void {
    const slow = { factor };
    this.#slowdowns.add(slow);
    this.scheduler.schedule(this.scheduler.now + ms, undefined, "speed up", () => this.#slowdowns.delete(slow));
  }
}
