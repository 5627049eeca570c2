/**
 * The side of tunnels that connects channels: a host through which drivers reach other hosts. It copies bytes and reads
 * none of them. What one channel may keep waiting is bounded, and a channel that waits stops no other one.
 */
import { errorMessage } from "../../../shared/text/error-message.js";
import type { Clock } from "../clock.js";
import { joinPipes } from "../transport/join-pipes.js";
import { parseNetworkAddress, type SocketAddress } from "../transport/network-address.js";
import type { PausablePipe, Pipe } from "../transport/pipe.js";
import { defaultTunnelLimits, type TunnelLimits } from "./limits.js";
import { type ChannelRequest, Tunnel } from "./tunnel.js";

/** The time limit of one attempt to connect a channel, in milliseconds. */
const CONNECT_LIMIT_MS = 10_000;

export interface TunnelServerOptions {
  readonly clock: Clock;
  readonly limits?: Partial<TunnelLimits>;
  /** Connects to an address. Rejects if no process listens there. `signal` aborts the attempt. */
  connect(address: SocketAddress, signal: AbortSignal): Promise<PausablePipe>;
}

export class TunnelServer {
  readonly #options: TunnelServerOptions;
  readonly #maxAttempts: number;
  readonly #tunnels = new Set<Tunnel>();
  /** The number of attempts to connect that are under way, also for channels that have ended meanwhile. */
  #attempts = 0;

  constructor(options: TunnelServerOptions) {
    this.#options = options;
    this.#maxAttempts = options.limits?.channels ?? defaultTunnelLimits.channels;
  }

  /** The number of tunnels. */
  get tunnelCount(): number {
    return this.#tunnels.size;
  }

  /** Takes the connection of a driver that has asked for a tunnel. */
  accept(pipe: Pipe): void {
    const { limits = {} } = this.#options;
    const tunnel: Tunnel = new Tunnel(pipe, {
      limits,
      opened: (request) => void this.#connect(request),
      ended: () => this.#tunnels.delete(tunnel),
    });
    if (!tunnel.hasEnded) this.#tunnels.add(tunnel);
  }

  async #connect({ address, channel, confirm, refuse }: ChannelRequest): Promise<void> {
    if (this.#attempts >= this.#maxAttempts) {
      refuse("EAGAIN", `the host makes ${this.#attempts} connections for drivers and begins no more`);
      return;
    }
    const { clock, connect } = this.#options;
    const giveUp = new AbortController();
    const late = () => giveUp.abort(new Error(`it did not answer within ${CONNECT_LIMIT_MS} ms`));
    const timer = clock.after(CONNECT_LIMIT_MS, late);
    this.#attempts++;
    try {
      const target = await connect(parseTarget(address), giveUp.signal);
      if (channel.hasEnded) {
        target.destroy();
        return;
      }
      confirm();
      joinPipes(channel, target);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      refuse(giveUp.signal.aborted ? "ETIMEDOUT" : code, errorMessage(error));
    } finally {
      this.#attempts--;
      timer.cancel();
    }
  }
}

/** @throws TypeError if it is not a host and a port */
function parseTarget(address: string): SocketAddress {
  const target = parseNetworkAddress(`tcp://${address}`);
  if (target.kind === "unix" || target.port === 0) throw new TypeError(`cannot connect to ${address}: port 0 is none`);
  return target;
}
