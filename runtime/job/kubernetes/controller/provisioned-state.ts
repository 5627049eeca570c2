/** The hosts of one request as the program that has asked sees them: a value with a version, for which requests wait. */
import { formatPlace } from "../../mesh-spec.js";
import type { ReadyHost, Report } from "../../provider.js";
import { longestPollMs, type NumberedEvent, type ProvisionedHost, type ProvisionState } from "../provision/protocol.js";

/** The number of events that are kept for a program that asks late. */
const keptEvents = 512;

/** Maximum number of requests that wait at the same time. A program has one. */
const mostWaiting = 8;

export class ProvisionedState {
  readonly #epoch: string;
  #count = 0;
  #hosts: ProvisionState["hosts"] = [];
  /** The host that was up last at each place, such as `generators[0]`. */
  readonly #lastUp = new Map<string, ProvisionedHost>();
  #events: NumberedEvent[] = [];
  #lastEvent: number;
  #ended: string | undefined;
  readonly #waiting = new Set<() => void>();

  /**
   * @param epoch differs between starts of the controller
   * @param firstEvent the number of the first event, larger than those of an earlier controller
   */
  constructor(epoch: string, firstEvent: number) {
    this.#epoch = epoch;
    this.#lastEvent = firstEvent - 1;
  }

  get now(): ProvisionState {
    const { version } = this;
    const state = { version, hosts: this.#hosts, events: this.#events };
    return this.#ended === undefined ? state : { ...state, ended: this.#ended };
  }

  get version(): string {
    return `${this.#epoch}.${this.#count}`;
  }

  /** Takes an event of the job. */
  readonly report: Report = (event) => {
    this.#lastEvent++;
    this.#events = [...this.#events, { ...event, number: this.#lastEvent }].slice(-keptEvents);
    this.#change();
  };

  /** Takes the hosts that are up. */
  see(hosts: readonly ReadyHost[]): void {
    const next = hosts.map(({ mesh, rank, address, incarnation = 0 }) => ({ mesh, rank, address, incarnation }));
    if (JSON.stringify(next) === JSON.stringify(this.#hosts)) return;
    this.#hosts = next;
    for (const host of next) this.#lastUp.set(formatPlace(host), host);
    this.#change();
  }

  /** Returns the host of a rank that was up last, if it is the given incarnation; undefined otherwise. It may be gone since. */
  lastUp(mesh: unknown, rank: unknown, incarnation: unknown): ProvisionedHost | undefined {
    const found = this.#lastUp.get(`${mesh}[${rank}]`);
    return found?.incarnation === incarnation ? found : undefined;
  }

  /** Tells that the hosts end. The first reason stays. */
  end(reason: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#change();
  }

  /**
   * Waits for a state of another version, for {@link longestPollMs} at most.
   * @throws Error if too many requests wait
   */
  async after(version: string, signal: AbortSignal): Promise<ProvisionState> {
    if (version !== this.version) return this.now;
    if (this.#waiting.size >= mostWaiting) throw new Error(`more than ${mostWaiting} requests wait for the same hosts`);
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, longestPollMs);
      signal.addEventListener("abort", done);
      this.#waiting.add(done);
      if (signal.aborted) done();
    });
    return this.now;
  }

  #change(): void {
    this.#count++;
    for (const done of [...this.#waiting]) done();
  }
}
