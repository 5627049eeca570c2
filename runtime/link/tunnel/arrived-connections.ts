/**
 * The host's side of data connections: it brings those that have come together with those that tunnels have announced, by their
 * tickets, whichever is first. A connection with a ticket that nobody announces is closed.
 */
import type { Clock } from "../clock.js";
import type { PausablePipe } from "../transport/pipe.js";

/**
 * The time in milliseconds for which a connection waits to be announced, and an announcement for its connection. The frame that announces it may
 * be behind bytes of the tunnel.
 */
const WAIT_MS = 5000;

/** The number of connections that wait to be announced. One more closes the oldest of them. */
const MAX_WAITING = 64;

/** A connection that has come, or is expected. */
interface Waiting {
  readonly pipe: PausablePipe;
  admitted(): void;
}

export class ArrivedConnections {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Waiting>();
  readonly #expected = new Map<string, (pipe: PausablePipe) => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Takes a connection that begins with a ticket. Nothing is read from it until it is resumed.
   * @param admitted called when its ticket was announced
   */
  arrived(ticket: Uint8Array, pipe: PausablePipe, admitted: () => void): void {
    pipe.pause();
    const key = keyOf(ticket);
    const expected = this.#expected.get(key);
    if (expected !== undefined) {
      admitted();
      expected(pipe);
      return;
    }
    // Who sends a ticket twice has not got it from this host.
    if (this.#waiting.has(key)) {
      pipe.destroy();
      return;
    }
    this.#waiting.set(key, { pipe, admitted });
    this.#clock.after(WAIT_MS, () => this.#drop(key, pipe));
    const [oldest] = this.#waiting;
    if (oldest !== undefined && this.#waiting.size > MAX_WAITING) this.#drop(oldest[0], oldest[1].pipe);
  }

  /**
   * Waits for the connection with a ticket, from which nothing is read until it is resumed.
   * @param signal ends the wait
   * @returns a promise that rejects if it does not come in time, or the signal is aborted
   */
  expect(ticket: Uint8Array, signal: AbortSignal): Promise<PausablePipe> {
    const key = keyOf(ticket);
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) {
      this.#waiting.delete(key);
      waiting.admitted();
      return Promise.resolve(waiting.pipe);
    }
    return new Promise((resolve, reject) => {
      const end = () => {
        timer.cancel();
        signal.removeEventListener("abort", aborted);
        this.#expected.delete(key);
      };
      const aborted = () => {
        end();
        reject(signal.reason);
      };
      const timer = this.#clock.after(WAIT_MS, () => {
        end();
        reject(new Error(`no connection with its ticket has come within ${WAIT_MS} ms`));
      });
      this.#expected.set(key, (pipe) => {
        end();
        resolve(pipe);
      });
      signal.addEventListener("abort", aborted, { once: true });
      if (signal.aborted) aborted();
    });
  }

  #drop(key: string, pipe: PausablePipe): void {
    if (this.#waiting.get(key)?.pipe !== pipe) return;
    this.#waiting.delete(key);
    pipe.destroy();
  }
}

function keyOf(ticket: Uint8Array): string {
  return Buffer.from(ticket.buffer, ticket.byteOffset, ticket.length).toString("latin1");
}
