/**
 * The driver's side of a data connection: a connection to the driver gateway beside the tunnel, which the gateway joins to an address.
 * It saves the frames of the tunnel, and its encryption where the peer behind the gateway encrypts by itself. A network may let
 * through the tunnel alone, so one that does not come is no error.
 */
import { abortable } from "../abortable.js";
import type { Clock, Random } from "../clock.js";
import type { ConcurrencyLimit } from "../concurrency-limit.js";
import { createNonce } from "../handshake/proof.js";
import type { Pipe } from "../transport/pipe.js";
import { openingOf } from "../transport/socket/data-connection.js";
import type { AnnouncedData } from "./data-announcements.js";
import type { Tunnel } from "./tunnel.js";

/**
 * Connects to the gateway of a tunnel, sends `opening`, and then does what the peer behind the gateway expects first.
 * @param signal aborts the attempt
 * @param lifetime ends the connection when it is aborted
 */
export type DataDial = (opening: Uint8Array, signal: AbortSignal, lifetime: AbortSignal) => Promise<Pipe>;

export interface DataTarget {
  readonly clock: Clock;
  readonly random: Random;
  /** The time in milliseconds after which a connection that has not come to the gateway is not waited for. */
  readonly limit: number;
  /** Limits how many connections are on their way to the gateway: it closes some if too many have not shown what they are. */
  readonly slots: ConcurrencyLimit;
  /** The host and port to which the gateway joins the connection. */
  readonly address: string;
  readonly dial: DataDial;
  /** Returns whether such connections do not come to the gateway, as others have shown meanwhile. */
  isHopeless(): boolean;
}

/**
 * Makes a data connection.
 * @param signal aborts the attempt
 * @returns undefined if it has not come to the gateway, or the tunnel has ended
 * @throws ChannelRefusedError if the gateway cannot connect to the address, and the errors of `dial` about the peer there
 */
export async function dialData(tunnel: Tunnel, target: DataTarget, signal: AbortSignal): Promise<Pipe | undefined> {
  const { slots, isHopeless } = target;
  const attempt = new DataAttempt(tunnel, target);
  const giveUp = () => attempt.end(signal.reason);
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    signal.throwIfAborted();
    const hasArrived = await slots.run(async () => !isHopeless() && (await attempt.arrives()));
    return hasArrived ? await attempt.joins() : undefined;
  } catch (error) {
    attempt.end(error);
    signal.throwIfAborted();
    if (tunnel.hasEnded) return undefined;
    throw error;
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

class DataAttempt {
  readonly #tunnel: Tunnel;
  readonly #target: DataTarget;
  readonly #over = new AbortController();
  #announced: AnnouncedData | undefined;
  #made: Promise<Pipe> | undefined;

  constructor(tunnel: Tunnel, target: DataTarget) {
    this.#tunnel = tunnel;
    this.#target = target;
  }

  /** Resolves with whether the connection has come to the gateway in time. @throws ChannelRefusedError, or the reason of its end */
  async arrives(): Promise<boolean> {
    const { clock, random, limit, address, dial } = this.#target;
    const { signal } = this.#over;
    signal.throwIfAborted();
    const ticket = createNonce(random);
    this.#announced = this.#tunnel.announceData(ticket, address);
    this.#made = dial(openingOf(ticket), signal, this.#tunnel.lifetime);
    // If it fails before it has come to the gateway, the time limit says so. Otherwise the gateway knows the reason.
    this.#made.catch(() => {});
    const late = new Error(`the connection has not come to the driver gateway within ${limit} ms`);
    const timer = clock.after(limit, () => this.end(late));
    try {
      await abortable(this.#announced.arrived, signal);
      return true;
    } catch (error) {
      if (error === late) return false;
      throw error;
    } finally {
      timer.cancel();
    }
  }

  /** Resolves with the connection when it leads to its address, and the peer there has accepted it. */
  async joins(): Promise<Pipe> {
    await abortable(this.#announced!.joined, this.#over.signal);
    return this.#made!;
  }

  /** Ends the connection, unless it was handed out. */
  end(reason: unknown): void {
    this.#over.abort(reason);
    this.#announced?.cancel();
    void this.#made?.then(
      (pipe) => pipe.destroy(),
      () => {},
    );
  }
}
