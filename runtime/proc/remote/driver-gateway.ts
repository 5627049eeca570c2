/**
 * The way of a driver to hosts that it does not reach itself: through one host that it reaches. Connections that are made
 * here are used like others. Not to be confused with `viceroy/gateway`, which serves HTTP clients.
 */
import type { HostProof } from "../../../generated/proc-agent.js";
import type { Proc } from "../../actor/proc/proc.js";
import { offerLink } from "../../link/handshake/dial.js";
import { HandshakeError } from "../../link/handshake/errors.js";
import { formatNetworkAddress, type NetworkAddress } from "../../link/transport/network-address.js";
import type { Pipe } from "../../link/transport/pipe.js";
import type { Credentials } from "../../link/transport/tls/credentials.js";
import { TunnelDialler } from "../../link/tunnel/dial.js";
import type { Platform } from "../platform/platform.js";
import { credentialsOf } from "./credentials.js";
import type { HostRoute } from "./host-route.js";

export interface DriverGatewayOptions {
  /** The address of the gateway. */
  readonly address: NetworkAddress;
  /** What messages call it. Absent: its address. */
  readonly name?: string | undefined;
  /** The way to the gateway. Absent: this process dials its address. */
  readonly way?: HostRoute | undefined;
  readonly proof: HostProof;
  /** The time for which links through the gateway go on without a connection, in milliseconds. */
  readonly absence: number;
}

export class DriverGateway implements HostRoute {
  readonly address: string;
  readonly absence: number;
  readonly #platform: Platform;
  readonly #tunnels: TunnelDialler;

  /** @param driver the proc of the driver */
  constructor(platform: Platform, driver: Proc, options: DriverGatewayOptions) {
    const { clock } = platform;
    this.address = options.name ?? formatNetworkAddress(options.address);
    this.absence = options.absence;
    this.#platform = platform;
    this.#tunnels = new TunnelDialler({
      clock,
      gateway: this.address,
      connect: (signal) => openTunnel(platform, driver, options, signal),
    });
  }

  /** Connects to an address of a host, as `connect` of a platform does. */
  async connect(address: NetworkAddress, credentials: Credentials | undefined, signal: AbortSignal): Promise<Pipe> {
    if (address.kind === "unix") {
      throw new Error(
        `cannot reach ${formatNetworkAddress(address)} through a driver gateway: it is on another machine`,
      );
    }
    const pipe = await this.#tunnels.connect(address, signal);
    return this.#platform.secure(pipe, address, credentials, signal);
  }

  /** Ends the connection to the gateway. A further connection to a host makes another one. */
  close(): void {
    this.#tunnels.close();
  }
}

/** Asks a host for a tunnel. @throws HandshakeError if it refuses; the errors of `connect` of the platform */
async function openTunnel(
  platform: Platform,
  driver: Proc,
  { address, proof, way = platform }: DriverGatewayOptions,
  signal: AbortSignal,
): Promise<Pipe> {
  const { clock, random } = platform;
  const { universe, id: from } = driver;
  const pipe = await way.connect(address, credentialsOf(proof.tls), signal);
  const offer = { universe, from, to: 0n, direct: true, use: "tunnel", link: random.id(), first: true } as const;
  const { token } = proof;
  const outcome = await offerLink(pipe, { ...offer, received: 0 }, { clock, random, token });
  if (outcome.kind === "open") return outcome.pipe;
  throw new HandshakeError("unknown", "it does not know tunnels; install the same version of viceroy on both sides");
}
