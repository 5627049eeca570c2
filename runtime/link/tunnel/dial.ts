/**
 * The driver's side of tunnels. It makes a tunnel when a channel is needed and there is none, so that connections through
 * it behave like connections of their own: they end with the tunnel, and another attempt makes another tunnel, through
 * another gateway if need be. Whatever resumes a link over a new connection needs to know nothing of tunnels.
 */
import { abortable } from "../abortable.js";
import type { Clock, Random, Timer } from "../clock.js";
import { ConcurrencyLimit } from "../concurrency-limit.js";
import { formatNetworkAddress, type SocketAddress } from "../transport/network-address.js";
import type { PausablePipe, Pipe } from "../transport/pipe.js";
import { type DataDial, dialData } from "./dial-data.js";
import { ChannelRefusedError } from "./errors.js";
import {
  ANSWER_LIMIT_MS,
  connectToFirst,
  describeFailures,
  type TunnelGateway,
  unreachableError,
  withCode,
} from "./first-gateway.js";
import type { TunnelLimits } from "./limits.js";
import { Tunnel } from "./tunnel.js";

export interface TunnelDiallerOptions<G extends TunnelGateway> {
  readonly clock: Clock;
  readonly limits?: Partial<TunnelLimits>;
  /** Returns the gateways in the order in which they are tried. The one in use comes first all the same. Asked before each attempt. */
  gateways(): readonly G[];
  /** Called when there is another tunnel. */
  opened?(): void;
}

/** The number of data connections of a driver that are on their way to the gateway at the same time. */
const DATA_DIALS = 16;

/** A tunnel and the gateway at its other end. */
interface Way<G> {
  readonly tunnel: Tunnel;
  readonly gateway: G;
  /** Whether a data connection did not come to the gateway. */
  refusesData: boolean;
}

export class TunnelDialler<G extends TunnelGateway = TunnelGateway> {
  readonly #options: TunnelDiallerOptions<G>;
  readonly #dataSlots = new ConcurrencyLimit(DATA_DIALS);
  #way: Way<G> | undefined;
  /** The name of the gateway that is tried first. */
  #preferred: string | undefined;
  #connecting: Promise<Way<G>> | undefined;
  /** The check of a tunnel that does not answer. */
  #checking: Promise<boolean> | undefined;
  #lastFailure: string | undefined;

  constructor(options: TunnelDiallerOptions<G>) {
    this.#options = options;
  }

  /** The gateway of the tunnel that there is; undefined if there is none. */
  get gateway(): G | undefined {
    return this.#way?.tunnel.hasEnded === false ? this.#way.gateway : undefined;
  }

  /** Why gateways were not reached by the last attempt to make a tunnel; undefined if none of them refused it. */
  get lastFailure(): string | undefined {
    return this.#lastFailure;
  }

  /**
   * Connects to an address through a gateway.
   * @param signal aborts the attempt
   * @throws HandshakeError if all gateways refuse this process, and otherwise an error with the code of the system if
   * there is one
   */
  async connect(address: SocketAddress, signal: AbortSignal): Promise<PausablePipe> {
    for (;;) {
      const { tunnel, gateway } = await abortable(this.#current(), signal);
      const { channel, connected } = tunnel.openChannel(hostAndPort(address));
      const abort = () => channel.destroy(signal.reason instanceof Error ? signal.reason : undefined);
      signal.addEventListener("abort", abort, { once: true });
      if (signal.aborted) abort();
      const timer = this.#options.clock.after(ANSWER_LIMIT_MS, () => void this.check());
      try {
        return await connected;
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (error instanceof ChannelRefusedError) throw refusedError(gateway, address, error);
        // The tunnel has ended, and another one may do better.
        if (!tunnel.hasEnded) throw error;
      } finally {
        timer.cancel();
        signal.removeEventListener("abort", abort);
      }
    }
  }

  /**
   * Connects to an address through a gateway, by a connection beside the tunnel.
   * @param dialOf returns what makes connections to a gateway for the address; undefined if the bytes of the address must stay
   * in the tunnel
   * @param signal aborts the attempt
   * @returns undefined if there can be none, so that `connect` is to be used
   * @throws the errors of `connect`, and those of the dial about the peer at the address
   */
  async connectData(
    address: SocketAddress,
    dialOf: (gateway: G) => DataDial | undefined,
    random: Random,
    signal: AbortSignal,
  ): Promise<Pipe | undefined> {
    const { clock } = this.#options;
    for (;;) {
      const way = await abortable(this.#current(), signal);
      const { tunnel, gateway, refusesData } = way;
      const dial = dialOf(gateway);
      if (refusesData || dial === undefined) return undefined;
      const target = {
        clock,
        random,
        limit: ANSWER_LIMIT_MS,
        slots: this.#dataSlots,
        address: hostAndPort(address),
        dial,
        isHopeless: () => way.refusesData,
      };
      try {
        const pipe = await dialData(tunnel, target, signal);
        if (pipe !== undefined) return pipe;
      } catch (error) {
        if (error instanceof ChannelRefusedError) throw refusedError(gateway, address, error);
        throw error;
      }
      // Either the network lets through the tunnel alone, or the gateway does not answer at all. Then there is another tunnel.
      if (!tunnel.hasEnded) await this.check();
      way.refusesData = true;
    }
  }

  /** Makes a tunnel if there is none. Resolves with its gateway. @throws the errors of `connect` */
  async reach(): Promise<G> {
    return (await this.#current()).gateway;
  }

  /**
   * Finds out whether the tunnel works, and replaces one that does not answer if another one can be made.
   * @returns whether a gateway has answered. Never rejects
   */
  check(): Promise<boolean> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  /** Replaces the tunnel by one through another gateway, if there is one that can be reached. Never rejects. */
  async moveOn(): Promise<void> {
    const names = this.#options.gateways().map(({ name }) => name);
    if (names.length < 2) return;
    this.#preferred = names[(names.indexOf(this.#preferred ?? "") + 1) % names.length];
    await this.#connectAgain().catch(() => {});
  }

  /** Ends the tunnel. A further channel makes another one. */
  close(): void {
    this.#way?.tunnel.destroy();
  }

  #current(): Promise<Way<G>> {
    return this.#way?.tunnel.hasEnded === false ? Promise.resolve(this.#way) : this.#connectAgain();
  }

  #connectAgain(): Promise<Way<G>> {
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #connect(): Promise<Way<G>> {
    const { clock, limits = {}, opened } = this.#options;
    const { reached, failures } = await connectToFirst(clock, this.#inOrder());
    this.#lastFailure = failures.length === 0 && reached !== undefined ? undefined : describeFailures(failures);
    // Another host may take the place of a gateway that was reached before, so none of its refusals is final.
    if (reached === undefined) throw unreachableError(failures, this.#way !== undefined);
    const { gateway, pipe } = reached;
    const former = this.#way?.tunnel;
    const way = { tunnel: new Tunnel(pipe, { limits }), gateway, refusesData: false };
    this.#way = way;
    this.#preferred = gateway.name;
    former?.destroy(new Error("it does not answer, and another connection to a driver gateway does"));
    opened?.();
    return way;
  }

  /** Returns the gateways, with the one that was used last in front. */
  #inOrder(): readonly G[] {
    const gateways = this.#options.gateways();
    const isFirst = ({ name }: G) => name === this.#preferred;
    return [...gateways.filter(isFirst), ...gateways.filter((gateway) => !isFirst(gateway))];
  }

  async #check(): Promise<boolean> {
    const way = this.#way;
    if (way?.tunnel.hasEnded === false) {
      if (await this.#answers(way.tunnel)) return true;
      // Another one has been made meanwhile.
      if (way !== this.#way) return false;
    }
    // A busy gateway does not accept another connection either, and keeps its tunnel if there is no other gateway.
    return this.#connectAgain().then(
      () => true,
      () => false,
    );
  }

  async #answers(tunnel: Tunnel): Promise<boolean> {
    const { clock } = this.#options;
    let timer: Timer | undefined;
    const silent = new Promise<boolean>((resolve) => {
      timer = clock.after(ANSWER_LIMIT_MS, () => resolve(false));
    });
    const answers = await Promise.race([tunnel.ping().then(() => true), silent]);
    timer?.cancel();
    return answers;
  }
}

function refusedError({ name }: TunnelGateway, address: SocketAddress, error: ChannelRefusedError): Error {
  const text = `the driver gateway ${name} cannot connect to ${formatNetworkAddress(address)}: ${error.message}`;
  return withCode(new Error(text, { cause: error }), error.code === "" ? undefined : error.code);
}

function hostAndPort({ host, port }: SocketAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
