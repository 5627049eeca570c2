/**
 * The driver's side of tunnels. It makes a tunnel when a channel is needed and there is none, so that connections through
 * it behave like connections of their own: they end with the tunnel, and another attempt makes another tunnel. Whatever
 * resumes a link over a new connection needs to know nothing of tunnels.
 */
import type { Clock, Timer } from "../clock.js";
import { HandshakeError } from "../handshake/errors.js";
import { formatNetworkAddress, type SocketAddress } from "../transport/network-address.js";
import type { PausablePipe, Pipe } from "../transport/pipe.js";
import type { TunnelLimits } from "./limits.js";
import { ChannelRefusedError, Tunnel } from "./tunnel.js";

/** The time limit of one attempt to make a tunnel, in milliseconds. */
const CONNECT_LIMIT_MS = 10_000;

/**
 * The time after which a tunnel over which a channel is not connected is asked whether it still works, and the time after
 * which another one is tried beside it, in milliseconds.
 */
const ANSWER_LIMIT_MS = 2500;

export interface TunnelDiallerOptions {
  readonly clock: Clock;
  /** The address of the gateway, for errors. */
  readonly gateway: string;
  readonly limits?: Partial<TunnelLimits>;
  /** Makes a connection to the gateway that has asked for a tunnel. `signal` aborts the attempt. */
  connect(signal: AbortSignal): Promise<Pipe>;
}

export class TunnelDialler {
  readonly #options: TunnelDiallerOptions;
  #tunnel: Tunnel | undefined;
  #connecting: Promise<Tunnel> | undefined;
  /** The check of a tunnel that does not answer. */
  #checking: Promise<void> | undefined;

  constructor(options: TunnelDiallerOptions) {
    this.#options = options;
  }

  /**
   * Connects to an address through the gateway.
   * @param signal aborts the attempt
   * @throws HandshakeError if the gateway refuses this process, and otherwise an error with the code of the system if
   * there is one
   */
  async connect(address: SocketAddress, signal: AbortSignal): Promise<PausablePipe> {
    for (;;) {
      const tunnel = await abortable(this.#current(), signal);
      const { channel, connected } = tunnel.openChannel(hostAndPort(address));
      const abort = () => channel.destroy(signal.reason instanceof Error ? signal.reason : undefined);
      signal.addEventListener("abort", abort, { once: true });
      if (signal.aborted) abort();
      const timer = this.#options.clock.after(ANSWER_LIMIT_MS, () => void this.#check(tunnel));
      try {
        return await connected;
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (error instanceof ChannelRefusedError) throw this.#refusedError(address, error);
        // The tunnel has ended, and another one may do better.
        if (!tunnel.hasEnded) throw error;
      } finally {
        timer.cancel();
        signal.removeEventListener("abort", abort);
      }
    }
  }

  /** Ends the tunnel. A further channel makes another one. */
  close(): void {
    this.#tunnel?.destroy();
  }

  #current(): Promise<Tunnel> {
    if (this.#tunnel?.hasEnded === false) return Promise.resolve(this.#tunnel);
    this.#connecting ??= this.#make().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #make(): Promise<Tunnel> {
    const { clock, connect, limits = {} } = this.#options;
    const giveUp = new AbortController();
    const timer = clock.after(CONNECT_LIMIT_MS, () => {
      giveUp.abort(new HandshakeError("lost", `it did not answer within ${CONNECT_LIMIT_MS} ms`));
    });
    try {
      const tunnel = new Tunnel(await connect(giveUp.signal), { limits });
      const former = this.#tunnel;
      this.#tunnel = tunnel;
      former?.destroy(new Error("it does not answer, and another connection to the driver gateway does"));
      return tunnel;
    } catch (error) {
      throw this.#unreachableError(error);
    } finally {
      timer.cancel();
    }
  }

  /** Replaces a tunnel that does not answer, if another connection can be made. */
  async #check(tunnel: Tunnel): Promise<void> {
    this.#checking ??= this.#replaceIfSilent(tunnel).finally(() => {
      this.#checking = undefined;
    });
    await this.#checking;
  }

  async #replaceIfSilent(tunnel: Tunnel): Promise<void> {
    const { clock } = this.#options;
    let timer: Timer | undefined;
    const silent = new Promise<boolean>((resolve) => {
      timer = clock.after(ANSWER_LIMIT_MS, () => resolve(true));
    });
    const isSilent = await Promise.race([tunnel.ping().then(() => false), silent]);
    timer?.cancel();
    if (!isSilent || tunnel.hasEnded || tunnel !== this.#tunnel) return;
    // A busy gateway does not accept another connection either, and keeps its tunnel.
    await this.#make().catch(() => {});
  }

  #unreachableError(error: unknown): Error {
    const { message } = error as Error;
    const text = `cannot reach the driver gateway ${this.#options.gateway}: ${message}`;
    if (error instanceof HandshakeError) return new HandshakeError(error.reason, text, { cause: error });
    return withCode(new Error(text, { cause: error }), (error as { code?: unknown }).code);
  }

  #refusedError(address: SocketAddress, error: ChannelRefusedError): Error {
    const { gateway } = this.#options;
    const text = `the driver gateway ${gateway} cannot connect to ${formatNetworkAddress(address)}: ${error.message}`;
    return withCode(new Error(text, { cause: error }), error.code === "" ? undefined : error.code);
  }
}

function withCode(error: Error, code: unknown): Error {
  return code === undefined ? error : Object.assign(error, { code });
}

function hostAndPort({ host, port }: SocketAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Rejects with the reason of the signal when it is aborted before the promise is settled. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
