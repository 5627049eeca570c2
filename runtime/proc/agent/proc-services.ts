/**
 * The interface of a proc to the operating-system process in which it runs. `process/process-runtime.ts` implements it.
 */
import type { ActorMove, HostKey } from "../../../generated/proc-agent.js";
import type { ActorRequest } from "../../actor/reference/actor-request.js";
import type { LocalActor } from "../../actor/reference/local-actor.js";
import type { MeshRecords } from "../../actor/reference/mesh-record.js";
import type { Location, MeshId, ProcId } from "../../link/address.js";
import type { Ownership } from "../../supervise/ownership.js";
import type { ChildProc } from "../mesh/child-proc.js";
import type { RecoveryWatch } from "../mesh/recovery-watch.js";
import type { SpawnedActors } from "../mesh/spawned-actors.js";
import type { Platform } from "../platform/platform.js";
import type { DirectLinks } from "../remote/direct-links.js";
import type { HostKeyring } from "../remote/host-keyring.js";
import type { HostLink } from "../remote/host-link.js";
import type { HostedBackend } from "../remote/hosted-backend.js";
import type { MemoryService } from "./memory-service.js";
import type { PublishedMeshes } from "./published-meshes.js";

/** The actor with mesh id 0, which executes the orders of the proc's parent. */
export type AgentRole = Pick<ActorRequest, "descriptor" | "actorClass" | "args">;

export interface ProcServices {
  readonly platform: Platform;
  readonly universe: bigint;
  /** Whether the process is a program, and not a child of one. */
  readonly isProgram: boolean;
  /** The location of the process on an attached host; undefined if it runs on the driver's machine. */
  readonly hostLocation: Location | undefined;
  /** The credentials that the process presents to hosts. */
  readonly hostKeyring: HostKeyring;
  /** The known meshes and the locations of their actors. */
  readonly records: MeshRecords;
  /** Answers for the registered memory of the process. */
  readonly memoryService: MemoryService;
  /** The meshes that the process has published, and those of other programs that it has looked up. */
  readonly publishedMeshes: PublishedMeshes;
  /** Connects to processes on other hosts. */
  readonly directLinks: DirectLinks;
  /** Finds actors again that are known to have ended. */
  readonly recoveryWatch: RecoveryWatch;
  readonly ownership: Ownership<LocalActor>;
  /** Procs that were started from here and have not ended. */
  readonly children: ReadonlyMap<ProcId, ChildProc>;
  /** Hosts that were attached from here and are not gone, by the ids of their agents. */
  readonly attachedHosts: ReadonlyMap<ProcId, HostLink>;
  /** Processes that hosts have started for this process. */
  readonly hostedBackends: ReadonlyMap<ProcId, HostedBackend>;
  /** Meshes of actors that were spawned from here and have not been stopped. */
  readonly spawnedActors: ReadonlyMap<MeshId, SpawnedActors>;
  /** Returns the location of a proc of this process, as references contain it. */
  locationOf(runDir: string, id: ProcId): Location;
  /**
   * Returns the location at which a proc on this machine accepts links.
   * @throws Error if `named` is another location
   */
  socketLocationOf(peer: ProcId, named: Location): Location;
  /** Tells all procs of this process, and the processes that it has started, that a host is gone. */
  handleHostGone(host: ProcId, reason: string, procs: readonly ProcId[]): void;
  /** Adds the credentials for hosts, here and in the processes that this process has started on this machine. */
  addHostKey(key: HostKey): void;
  /** Announces the move of an actor to the neighbours in the process tree. Never rejects. */
  announceMove(move: ActorMove, from: ProcId): Promise<void>;
}
