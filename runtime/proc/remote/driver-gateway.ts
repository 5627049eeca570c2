/**
 * The way of a driver to hosts that it does not reach itself: through one host that it reaches, or through one of several.
 * Connections that are made here are used like others. Not to be confused with `viceroy/gateway`, which serves HTTP clients.
 */
import type { HostProof } from "../../../generated/proc-agent.js";
import type { Proc } from "../../actor/proc/proc.js";
import { offerLink } from "../../link/handshake/dial.js";
import { HandshakeError } from "../../link/handshake/errors.js";
import { formatNetworkAddress, type NetworkAddress, type SocketAddress } from "../../link/transport/network-address.js";
import type { Pipe } from "../../link/transport/pipe.js";
import type { Credentials } from "../../link/transport/tls/credentials.js";
import { TunnelDialler } from "../../link/tunnel/dial.js";
import type { DataDial } from "../../link/tunnel/dial-data.js";
import type { TunnelGateway } from "../../link/tunnel/first-gateway.js";
import type { Platform } from "../platform/platform.js";
import { credentialsOf } from "./credentials.js";
import { type DialHost, type HostRoute, routeByDialling } from "./host-route.js";

/** A host that can be the driver gateway. */
export interface GatewayCandidate {
  /** The address of the host. */
  readonly address: NetworkAddress;
  /** What messages call it, which tells candidates apart. Absent: its address. */
  readonly name?: string | undefined;
  /** Makes a connection to the host. Absent: this process dials its address. */
  readonly dial?: DialHost;
}

export interface DriverGatewayOptions<C extends GatewayCandidate = GatewayCandidate> {
  /** Returns the hosts that can be the gateway now, in the order in which they are tried. */
  readonly candidates: () => readonly C[];
  readonly proof: HostProof;
  /** The time for which links through the gateway go on without a connection, in milliseconds. */
  readonly absence: number;
  /** Called when there is another connection to a gateway. */
  readonly opened?: () => void;
}

/** A candidate, as tunnels are made to it. */
interface NamedCandidate<C> extends TunnelGateway {
  readonly candidate: C;
}

export class DriverGateway<C extends GatewayCandidate = GatewayCandidate> implements HostRoute {
  readonly absence: number;
  readonly #platform: Platform;
  readonly #tunnels: TunnelDialler<NamedCandidate<C>>;

  /** @param driver the proc of the driver */
  constructor(platform: Platform, driver: Proc, options: DriverGatewayOptions<C>) {
    const { candidates, proof, absence, opened } = options;
    this.absence = absence;
    this.#platform = platform;
    const named = (candidate: C): NamedCandidate<C> => ({
      candidate,
      name: candidateName(candidate),
      connect: (signal) => openTunnel(platform, driver, { candidate, proof, absence }, signal),
    });
    this.#tunnels = new TunnelDialler({
      clock: platform.clock,
      gateways: () => candidates().map(named),
      ...(opened === undefined ? {} : { opened }),
    });
  }

  /** The name of the host through which the tunnel goes; undefined if there is none. */
  get address(): string | undefined {
    return this.#tunnels.gateway?.name;
  }

  /** Why candidates were not reached by the last attempt to make a tunnel; undefined if none of them refused it. */
  get lastFailure(): string | undefined {
    return this.#tunnels.lastFailure;
  }

  /** Connects to an address of a host, as `connect` of a platform does. */
  async connect(address: NetworkAddress, credentials: Credentials | undefined, signal: AbortSignal): Promise<Pipe> {
    if (address.kind === "unix") {
      throw new Error(
        `cannot reach ${formatNetworkAddress(address)} through a driver gateway: it is on another machine`,
      );
    }
    const { random } = this.#platform;
    const dialOf = ({ candidate }: NamedCandidate<C>) => this.#dataDial(candidate, address, credentials);
    const data = await this.#tunnels.connectData(address, dialOf, random, signal);
    if (data !== undefined) return data;
    const pipe = await this.#tunnels.connect(address, signal);
    return this.#platform.secure(pipe, address, credentials, signal);
  }

  /**
   * Returns what makes data connections to a candidate for an address. There is none if the candidate is not dialled, or if the
   * bytes would be encrypted in the tunnel alone.
   */
  #dataDial(
    { address: gateway, dial }: GatewayCandidate,
    address: SocketAddress,
    credentials: Credentials | undefined,
  ): DataDial | undefined {
    const platform = this.#platform;
    if (platform.connectVia === undefined || dial !== undefined || gateway.kind === "unix") return undefined;
    if (gateway.kind === "tls" && address.kind !== "tls") return undefined;
    return (opening, signal, lifetime) =>
      platform.connectVia!({ gateway, opening, lifetime }, address, credentials, signal);
  }

  /** Makes a tunnel if there is none. Resolves with the host at its other end. @throws Error if no candidate is reached */
  async reach(): Promise<C> {
    return (await this.#tunnels.reach()).candidate;
  }

  /** Returns whether a candidate answers, and replaces a tunnel that does not work. Never rejects. */
  check(): Promise<boolean> {
    return this.#tunnels.check();
  }

  /** Goes on through another candidate, if there is one that can be reached. Never rejects. */
  moveOn(): Promise<void> {
    return this.#tunnels.moveOn();
  }

  /** Ends the connection to the gateway. A further connection to a host makes another one. */
  close(): void {
    this.#tunnels.close();
  }
}

/** Returns what messages call a candidate. */
export function candidateName({ name, address }: GatewayCandidate): string {
  return name ?? formatNetworkAddress(address);
}

/** Returns the way to a candidate, if this process does not dial its address. */
export function wayTo(platform: Platform, { dial }: GatewayCandidate, absence: number): HostRoute | undefined {
  return dial && routeByDialling(platform, dial, absence);
}

/** The host that is asked for a tunnel, and the terms of the tunnel. */
interface TunnelTarget extends Pick<DriverGatewayOptions, "proof" | "absence"> {
  readonly candidate: GatewayCandidate;
}

/** Asks a host for a tunnel. @throws HandshakeError if it refuses; the errors of `connect` of the platform */
async function openTunnel(
  platform: Platform,
  driver: Proc,
  { candidate, proof, absence }: TunnelTarget,
  signal: AbortSignal,
): Promise<Pipe> {
  const { clock, random } = platform;
  const { universe, id: from } = driver;
  const way = wayTo(platform, candidate, absence) ?? platform;
  const pipe = await way.connect(candidate.address, credentialsOf(proof.tls), signal);
  const offer = { universe, from, to: 0n, direct: true, use: "tunnel", link: random.id(), first: true } as const;
  const { token } = proof;
  const outcome = await offerLink(pipe, { ...offer, received: 0 }, { clock, random, token });
  if (outcome.kind === "open") return outcome.pipe;
  throw new HandshakeError("unknown", "it does not know tunnels; install the same version of viceroy on both sides");
}
