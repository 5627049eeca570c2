/**
 * Pings the peer of a WebSocket. Proxies then do not take the connection for idle, and a peer that has gone without a word,
 * behind a proxy that keeps its own connection open, is noticed.
 */
import type { WebSocket } from "ws";
import type { Clock, Timer } from "../../clock.js";
import type { PingLimits } from "./limits.js";

export class PingTimer {
  readonly #webSocket: WebSocket;
  readonly #clock: Clock;
  readonly #limits: PingLimits;
  readonly #silent: () => void;
  #timer: Timer | undefined;
  #unanswered = 0;
  /** Whether the last ping waits in this process, behind bytes that the peer does not take. */
  #isWaiting = false;

  /** @param silent called once when the peer has left too many pings unanswered */
  constructor(webSocket: WebSocket, clock: Clock, limits: PingLimits, silent: () => void) {
    this.#webSocket = webSocket;
    this.#clock = clock;
    this.#limits = limits;
    this.#silent = silent;
    webSocket.on("pong", () => this.heard());
    webSocket.on("ping", () => this.heard());
    webSocket.once("close", () => this.#timer?.cancel());
    this.#wait();
  }

  /** The peer has sent something. */
  heard(): void {
    this.#unanswered = 0;
  }

  #wait(): void {
    this.#timer = this.#clock.after(this.#limits.interval, () => this.#tick());
  }

  #tick(): void {
    // What the peer has sent is not read while the connection is paused.
    if (this.#webSocket.isPaused) this.heard();
    if (this.#unanswered >= this.#limits.unanswered) {
      this.#silent();
      return;
    }
    this.#unanswered++;
    if (!this.#isWaiting && this.#webSocket.readyState === this.#webSocket.OPEN) {
      this.#isWaiting = true;
      this.#webSocket.ping(undefined, undefined, () => {
        this.#isWaiting = false;
      });
    }
    this.#wait();
  }
}
