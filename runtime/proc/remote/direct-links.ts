/**
 * Links to procs on hosts past the daemons there: each listens at a port of its own, to which its daemon sends those who want
 * it. Where a firewall hides such ports, the way through the daemon is left.
 */
import type { Proc } from "../../actor/proc/proc.js";
import { hex64, type ProcId } from "../../link/address.js";
import type { LinkUse } from "../../link/handshake/message.js";
import { dialLasting } from "../../link/lasting/dial.js";
import { formatNetworkAddress } from "../../link/network-address.js";
import type { Pipe } from "../../link/pipe.js";
import type { Platform } from "../platform/platform.js";
import { credentialsOf, type HostTarget } from "./host-connection.js";

/** In ms: how long a port is tried, since there is another way. */
const directDialLimit = 2000;

/** In ms: when a host whose ports did not answer is asked again. It may have been busy. */
const retryAfter = 60_000;

export interface DirectTarget extends HostTarget {
  /** Default: a link. */
  readonly use?: LinkUse;
}

export class DirectLinks {
  readonly #platform: Platform;
  /** Agents of hosts whose ports do not answer, and until when the next who wants one of them shall not wait for that. */
  readonly #unreachableUntil = new Map<ProcId, number>();

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /**
   * @param host that has started the proc
   * @param port where it listens; undefined: the daemon is asked
   * @returns undefined if there is no such way. Never rejects
   */
  async connect(
    peer: ProcId,
    from: Proc,
    { agent, address, proof, use = "link" }: DirectTarget,
    port?: number,
  ): Promise<Pipe | undefined> {
    const { clock, random } = this.#platform;
    const hidden = (this.#unreachableUntil.get(agent) ?? Number.NEGATIVE_INFINITY) > clock.now();
    if (address.kind === "unix" || hidden) return undefined;
    const tls = credentialsOf(proof?.tls);
    const link = { universe: from.universe, from: from.id, to: peer, direct: true, use, port };
    const dialled = {
      ...link,
      peer: `process ${hex64(peer)} at ${formatNetworkAddress(address)}`,
      token: proof?.token,
      handshakeMs: directDialLimit,
      connect: (own: number | undefined, signal: AbortSignal) =>
        this.#platform.connect({ ...address, port: own ?? address.port }, tls, signal),
    };
    const started = clock.now();
    try {
      return await dialLasting({ clock, random, ...dialled });
    } catch {
      // Who is refused knows it soon, and may be let in another time.
      if (clock.now() - started >= directDialLimit) this.#unreachableUntil.set(agent, clock.now() + retryAfter);
      return undefined;
    }
  }
}
