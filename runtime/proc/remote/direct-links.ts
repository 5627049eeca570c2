/**
 * Direct links to procs on hosts, which bypass the daemons there. Each proc listens at a port of its own, and the
 * daemon redirects connections to it. If a firewall blocks these ports, links go through the daemon.
 */
import type { Proc } from "../../actor/proc/proc.js";
import { formatId, type ProcId } from "../../link/address.js";
import type { LinkUse } from "../../link/handshake/message.js";
import { dialResumable } from "../../link/resumable/dial.js";
import { formatNetworkAddress } from "../../link/transport/network-address.js";
import type { Pipe } from "../../link/transport/pipe.js";
import type { Platform } from "../platform/platform.js";
import { credentialsOf } from "./credentials.js";
import { type HostTarget, limitsFor } from "./host-connection.js";

/**
 * Time limit in ms for connecting to a port. It is short because a firewall that drops packets never answers, and links
 * can also go through the daemon. A process that is connected may take longer for the handshake: it may be starting.
 */
const connectLimit = 2000;

/** Time in ms until a host whose ports did not answer is tried again. The host may only have been busy. */
const retryAfter = 60_000;

export interface DirectTarget extends HostTarget {
  /** The use of the connection: a link or memory bytes. Default: a link. */
  readonly use?: LinkUse;
}

export class DirectLinks {
  readonly #platform: Platform;
  /**
   * The agents of hosts whose ports did not answer, with the time until which no connection to these hosts is tried.
   */
  readonly #unreachableUntil = new Map<ProcId, number>();

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /**
   * @param port the port of the proc; undefined if the daemon must be asked
   * @returns undefined if the proc cannot be reached directly. Never rejects
   */
  async connect(
    peer: ProcId,
    from: Proc,
    { agent, address, proof, use = "link", through, absence = through?.absence }: DirectTarget,
    port?: number,
  ): Promise<Pipe | undefined> {
    const { clock, random } = this.#platform;
    const hidden = (this.#unreachableUntil.get(agent) ?? Number.NEGATIVE_INFINITY) > clock.now();
    if (address.kind === "unix" || hidden) return undefined;
    const tls = credentialsOf(proof?.tls);
    let isSilent = false;
    const link = { universe: from.universe, from: from.id, to: peer, direct: true, use, port };
    const dialled = {
      ...link,
      peer: `process ${formatId(peer)} at ${formatNetworkAddress(address)}`,
      token: proof?.token,
      connectMs: connectLimit,
      limits: limitsFor(absence),
      connect: async (own: number | undefined, signal: AbortSignal) => {
        try {
          return await (through ?? this.#platform).connect({ ...address, port: own ?? address.port }, tls, signal);
        } catch (error) {
          isSilent = signal.aborted;
          throw error;
        }
      },
    };
    try {
      return await dialResumable({ clock, random, ...dialled });
    } catch {
      // A refusal arrives fast and costs little, so only ports that do not answer suppress later attempts.
      if (isSilent) this.#unreachableUntil.set(agent, clock.now() + retryAfter);
      return undefined;
    }
  }
}
