/**
 * How processes reach those that have granted memory: connections that carry bulk bytes alone, so that no call waits behind them, and
 * calls of the owner's agent for what has to be asked and answered.
 *
 * Within a machine that is a Unix socket beside the one for links, in the same private folder. Between machines it is the port at which the
 * owner takes links itself: with the same handshake, over TLS where links have it, and going on over other connections.
 */
import type { ProcAgentMesh } from "../../../generated/proc-agent.js";
import type { Location, ProcId } from "../../link/address.js";
import { connectUnixSocket, listenUnixSocket } from "../../link/transport/unix/connect.js";
import { agentOf, runAsRoot } from "../../proc/proc-agents.js";
import type { ProcessRuntime } from "../../proc/process/process-runtime.js";
import { parseHostedLocation } from "../../proc/remote/hosted-location.js";
import type { BulkConnection } from "./bulk-connection.js";

/** The way to the processes that have granted memory. */
export interface PeerConnector {
  /** Of all processes that there is a way to. */
  readonly universe: bigint;
  /** As whom others find this process who are on no machine that it can connect to; undefined: they cannot connect to it either. */
  readonly reachableAddress: { readonly proc: ProcId; readonly location: Location } | undefined;
  /**
   * Says something to the agent of one of them.
   * @param send calls it, and does not await before it does
   */
  askAgent<T>(proc: ProcId, location: Location, send: (agent: ProcAgentMesh) => T): T;
  /** A new connection to one of them, for bulk alone. Undefined, or rejects, where there can be none. */
  connect(proc: ProcId, location: Location): Promise<BulkConnection | undefined>;
  /** Others can connect from now on, those of other machines by `MemoryService.accept`. Idempotent. */
  listen(accept: (way: BulkConnection) => void): void;
}

/** A name for a socket that no proc has. */
const SOCKET_MARK = 0x7972_6f6d_656dn;

export class ProcPeerConnector implements PeerConnector {
  readonly #local: ProcessRuntime;
  #isListening = false;

  constructor(local: ProcessRuntime) {
    this.#local = local;
  }

  get universe(): bigint {
    return this.#local.universe;
  }

  /** Who answers for memory of this process, as handles name it. */
  get ownAddress(): { readonly proc: ProcId; readonly location: Location } {
    const { id, location } = this.#local.mainProc.proc;
    return { proc: id, location };
  }

  get reachableAddress(): { readonly proc: ProcId; readonly location: Location } | undefined {
    const { ownAddress } = this;
    return parseHostedLocation(ownAddress.location)?.ancestors.length === 0 ? ownAddress : undefined;
  }

  askAgent<T>(proc: ProcId, location: Location, send: (agent: ProcAgentMesh) => T): T {
    return runAsRoot(this.#local.mainProc.proc, () => send(agentOf(proc, location)));
  }

  async connect(proc: ProcId, location: Location): Promise<BulkConnection | undefined> {
    const { mainProc, hostLocation } = this.#local;
    // Calls tell why it is gone.
    if (mainProc.proc.routes.deathOf(proc) !== undefined) return undefined;
    const path = this.#isOnThisMachine(location) ? this.#bulkSocketOf(proc) : undefined;
    if (path !== undefined) return { pipe: await connectUnixSocket(path), isDirect: true };
    const place = parseHostedLocation(location);
    if (place === undefined || place.agent === parseHostedLocation(hostLocation ?? "")?.agent) return undefined;
    const pipe = await mainProc.dialDirectly(place, proc, "memory");
    // When the connection under it ends, bytes of it may still be read for a while.
    return pipe && { pipe, isDirect: false };
  }

  listen(accept: (way: BulkConnection) => void): void {
    if (this.#isListening) return;
    this.#isListening = true;
    const path = this.#bulkSocketOf(this.ownAddress.proc);
    if (path === undefined) return;
    listenUnixSocket(path, (pipe) => accept({ pipe, isDirect: true })).catch(() => {
      // Peers go by calls.
    });
  }

  /** Whether a proc is on this machine, and has a socket there. */
  #isOnThisMachine(location: Location): boolean {
    return (
      location !== "" &&
      parseHostedLocation(location)?.agent === parseHostedLocation(this.#local.hostLocation ?? "")?.agent
    );
  }

  /** Where a proc takes bulk; undefined: nowhere, since it is a thread, or simulated. */
  #bulkSocketOf(proc: ProcId): string | undefined {
    const { platform, runDir } = this.#local;
    const location = platform.locationOf(runDir, proc ^ SOCKET_MARK);
    return location.startsWith("unix:") ? location.slice("unix:".length) : undefined;
  }
}
