/**
 * Connects a process to the owners of memory: by connections that carry only memory bytes, so that no call waits behind
 * them, and by calls of the owner's agent for requests.
 *
 * On one machine a connection is a Unix socket beside the one for links, in the same private folder. Between machines
 * the initiator connects to the port at which the owner accepts links: with the same handshake, with TLS where links
 * use it, and resumable after the loss of a connection.
 */
import type { ProcAgentMesh } from "../../../generated/proc-agent.js";
import type { Location, ProcId } from "../../link/address.js";
import { parseRelayedLocation } from "../../link/relayed-location.js";
import { connectUnixSocket, listenUnixSocket } from "../../link/transport/unix/connect.js";
import { agentOf, runAsRoot } from "../../proc/proc-agents.js";
import type { ProcessRuntime } from "../../proc/process/process-runtime.js";
import { parseHostedLocation } from "../../proc/remote/hosted-location.js";
import type { BulkConnection } from "./bulk-connection.js";

/** Reaches the processes that have granted memory. */
export interface PeerConnector {
  /** The universe of all processes that can be reached. */
  readonly universe: bigint;
  /**
   * The address at which processes can connect that this process cannot connect to; undefined if they cannot connect
   * either.
   */
  readonly reachableAddress: { readonly proc: ProcId; readonly location: Location } | undefined;
  /**
   * Sends a request to the agent of a process.
   * @param send calls the agent synchronously
   */
  askAgent<T>(proc: ProcId, location: Location, send: (agent: ProcAgentMesh) => T): T;
  /** Opens a connection to a process for memory bytes. Resolves with undefined, or rejects, if there can be none. */
  connect(proc: ProcId, location: Location): Promise<BulkConnection | undefined>;
  /**
   * Accepts connections from processes of this machine. Connections from other machines arrive through
   * `MemoryService.accept`. Idempotent.
   */
  listen(accept: (connection: BulkConnection) => void): void;
}

/** Distinguishes the id in the name of the socket for memory bytes from the id of the proc. */
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

  /** The address of this process as handles contain it. */
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
    // The call that follows instead reports why the process is gone.
    if (mainProc.proc.routes.deathOf(proc) !== undefined) return undefined;
    const path = this.#isOnThisMachine(location) ? this.#bulkSocketOf(proc) : undefined;
    if (path !== undefined) return { pipe: await connectUnixSocket(path), isDirect: true };
    const place = parseHostedLocation(location);
    if (place === undefined || place.agent === parseHostedLocation(hostLocation ?? "")?.agent) return undefined;
    const pipe = await mainProc.dialDirectly(place, proc, "memory");
    // A resumable pipe may still read the memory for a while after its connection has ended.
    return pipe && { pipe, isDirect: false };
  }

  listen(accept: (connection: BulkConnection) => void): void {
    if (this.#isListening) return;
    this.#isListening = true;
    const path = this.#bulkSocketOf(this.ownAddress.proc);
    if (path === undefined) return;
    listenUnixSocket(path, (pipe) => accept({ pipe, isDirect: true })).catch(() => {
      // Peers that cannot connect use calls.
    });
  }

  /** Returns whether a proc is on this machine and listens there. */
  #isOnThisMachine(location: Location): boolean {
    return (
      location !== "" &&
      parseRelayedLocation(location) === undefined &&
      parseHostedLocation(location)?.agent === parseHostedLocation(this.#local.hostLocation ?? "")?.agent
    );
  }

  /**
   * Returns the path of the socket at which a proc accepts memory bytes; undefined for threads and simulated processes.
   */
  #bulkSocketOf(proc: ProcId): string | undefined {
    const { platform, runDir } = this.#local;
    const location = platform.locationOf(runDir, proc ^ SOCKET_MARK);
    return location.startsWith("unix:") ? location.slice("unix:".length) : undefined;
  }
}
