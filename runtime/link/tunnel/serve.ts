/**
 * The side of tunnels that makes connections for drivers: a host through which drivers reach other hosts. It copies bytes and reads
 * none of them. What one connection may keep waiting is bounded, and a connection that waits stops no other one.
 */
import { errorMessage } from "../../../shared/text/error-message.js";
import type { Clock } from "../clock.js";
import { joinPipes } from "../transport/join-pipes.js";
import { parseNetworkAddress, type SocketAddress } from "../transport/network-address.js";
import type { PausablePipe, Pipe } from "../transport/pipe.js";
import type { ArrivedConnections } from "./arrived-connections.js";
import type { DataRequest } from "./data-announcements.js";
import { defaultTunnelLimits, type TunnelLimits } from "./limits.js";
import { type ChannelRequest, Tunnel } from "./tunnel.js";

/** The time limit of one attempt to connect to an address, in milliseconds. */
const CONNECT_LIMIT_MS = 10_000;

export interface TunnelServerOptions {
  readonly clock: Clock;
  readonly limits?: Partial<TunnelLimits>;
  /** Connects to an address. Rejects if no process listens there. `signal` aborts the attempt. */
  connect(address: SocketAddress, signal: AbortSignal): Promise<PausablePipe>;
  /** The data connections that have come to this host. Absent: drivers can make none. */
  readonly arrived?: ArrivedConnections;
}

/** A request of a driver for a connection to an address. */
type ConnectRequest = Pick<ChannelRequest, "address" | "refuse">;

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

  /** The number of channels and data connections of all tunnels. */
  get channelCount(): number {
    return [...this.#tunnels].reduce((sum, { channelCount }) => sum + channelCount, 0);
  }

  /** Takes the connection of a driver that has asked for a tunnel. */
  accept(pipe: Pipe): void {
    const { limits = {}, arrived } = this.#options;
    const tunnel: Tunnel = new Tunnel(pipe, {
      limits,
      opened: (request) => void this.#connectChannel(request),
      ...(arrived && { announced: (request: DataRequest) => void this.#connectData(request, arrived) }),
      ended: () => this.#tunnels.delete(tunnel),
    });
    if (!tunnel.hasEnded) this.#tunnels.add(tunnel);
  }

  async #connectChannel(request: ChannelRequest): Promise<void> {
    const { channel, confirm } = request;
    const target = await this.#connect(request);
    if (target === undefined) return;
    if (channel.hasEnded) {
      target.destroy();
      return;
    }
    confirm();
    joinPipes(channel, target);
  }

  async #connectData(request: DataRequest, connections: ArrivedConnections): Promise<void> {
    const { ticket, signal, arrived, joined, refuse, ended } = request;
    const connecting = this.#connect(request).then((pipe) => {
      pipe?.pause();
      return pipe;
    });
    let near: PausablePipe;
    try {
      near = await connections.expect(ticket, signal);
    } catch (error) {
      refuse("", errorMessage(error));
      (await connecting)?.destroy();
      return;
    }
    arrived();
    const target = await connecting;
    if (target === undefined || signal.aborted) {
      near.destroy();
      target?.destroy();
      return;
    }
    joinPipes(near, target, ended);
    signal.addEventListener("abort", () => near.destroy(signal.reason as Error), { once: true });
    joined();
    near.resume();
    target.resume();
  }

  /** Connects to an address for a driver, and reads nothing. Refuses what cannot be connected. Never rejects. */
  async #connect({ address, refuse }: ConnectRequest): Promise<PausablePipe | undefined> {
    if (this.#attempts >= this.#maxAttempts) {
      refuse("EAGAIN", `the host makes ${this.#attempts} connections for drivers and begins no more`);
      return undefined;
    }
    const { clock, connect } = this.#options;
    const giveUp = new AbortController();
    const late = () => giveUp.abort(new Error(`it did not answer within ${CONNECT_LIMIT_MS} ms`));
    const timer = clock.after(CONNECT_LIMIT_MS, late);
    this.#attempts++;
    try {
      return await connect(parseTarget(address), giveUp.signal);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      refuse(giveUp.signal.aborted ? "ETIMEDOUT" : code, errorMessage(error));
      return undefined;
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
