/**
 * The meshes that this program has published, and those of other programs that it has looked up. Agents of hosts send
 * messages about both to the agent of this process, which passes them here.
 */
import type { RankStatus } from "../../../generated/proc-agent.js";
import type {
  MovedSender,
  Publication,
  PublishedRankState,
  RelayedAnswer,
  RelayedCall,
  SenderMove,
} from "../../../generated/published.js";
import type { ActorMesh } from "../../actor/mesh/actor-mesh.js";
import { viewOf } from "../../actor/mesh/actor-mesh.js";
import type { MeshId, ProcId } from "../../link/address.js";
import { noPublishedMeshes, notPublished, type PublishedMeshes } from "../../proc/agent/published-meshes.js";
import { runAsRoot } from "../../proc/proc-agents.js";
import type { ProcessRuntime } from "../../proc/process/process-runtime.js";
import { baseRank } from "../../shape/index.js";
import type { ActorDescriptor } from "../../wire/descriptor.js";
import type { AttachedHost } from "../attached/attached-host.js";
import type { KnownSenders } from "./message-senders.js";
import { ProxyMesh } from "./proxy-mesh.js";
import { ReceivedMessages } from "./received-messages.js";

/** A mesh that this program has published. */
interface OwnPublication {
  readonly publication: Publication;
  readonly mesh: ActorMesh;
  readonly hosts: readonly AttachedHost[];
  readonly messages: ReceivedMessages;
}

/** A published mesh, as another process takes it over. */
export interface PublishedState {
  readonly publication: Publication;
  readonly mesh: ActorMesh;
  readonly senders: KnownSenders;
}

export class ProgramPublications implements PublishedMeshes {
  readonly #runtime: ProcessRuntime;
  /** The meshes that this program has published, by the ids of the publications. */
  readonly #own = new Map<bigint, OwnPublication>();
  readonly #proxies = new Map<bigint, ProxyMesh>();

  constructor(runtime: ProcessRuntime) {
    this.#runtime = runtime;
  }

  /** Takes messages for a mesh of this program from now on. */
  add(publication: Publication, mesh: ActorMesh, hosts: readonly AttachedHost[]): void {
    this.#own.set(publication.id, { publication, mesh, hosts, messages: new ReceivedMessages(viewOf(mesh)) });
  }

  /** The meshes that this program has published, with the programs that have sent messages to them. */
  get own(): readonly PublishedState[] {
    return [...this.#own.values()].map(({ publication, mesh, messages }) => ({
      publication,
      mesh,
      senders: messages.senders.known,
    }));
  }

  /** Publishes a mesh that another process has published on these hosts, which know it. */
  restore({ publication, mesh, senders }: PublishedState, hosts: readonly AttachedHost[]): void {
    const messages = new ReceivedMessages(viewOf(mesh));
    messages.senders.restore(senders);
    this.#own.set(publication.id, { publication, mesh, hosts, messages });
  }

  /** Leaves the published meshes to another process. The hosts are not told. */
  giveUp(): void {
    for (const { messages } of this.#own.values()) messages.giveUp();
    this.#own.clear();
  }

  /** Withdraws a mesh of this program. Resolves when the hosts have been told. Idempotent, never rejects. */
  async remove(id: bigint, reason: string): Promise<void> {
    const own = this.#own.get(id);
    if (own === undefined) return;
    this.#own.delete(id);
    // A host that cannot be told has ended the session of this program, and the publication with it.
    await Promise.allSettled(own.hosts.map((host) => host.ask((agent) => agent.unpublish.callOne(id, reason))));
  }

  /** Returns the mesh of a publication: this program's own, or local actors that stand for those of another program. */
  meshOf(publication: Publication, host: AttachedHost, descriptor: ActorDescriptor): ActorMesh {
    const { id } = publication;
    const own = this.#own.get(id);
    if (own !== undefined) return own.mesh;
    let proxy = this.#proxies.get(id);
    if (proxy === undefined) {
      const ended = () => void this.#proxies.delete(id);
      proxy = new ProxyMesh(this.#runtime, host, publication, descriptor, ended);
      this.#proxies.set(id, proxy);
    }
    return proxy.mesh;
  }

  call(call: RelayedCall, signal: AbortSignal): Promise<RelayedAnswer> {
    const own = this.#own.get(call.publication);
    return own === undefined ? Promise.resolve(notPublished) : this.#asRoot(() => own.messages.call(call, signal));
  }

  stream(call: RelayedCall, signal: AbortSignal): AsyncIterableIterator<RelayedAnswer> {
    const own = this.#own.get(call.publication);
    return own === undefined
      ? noPublishedMeshes.stream(call, signal)
      : this.#asRoot(() => own.messages.stream(call, signal));
  }

  rankState(publication: bigint, rank: number): PublishedRankState {
    const own = this.#own.get(publication);
    if (own === undefined) return "lost";
    const { record, region, size } = viewOf(own.mesh);
    if (!(rank < size)) return "lost";
    return this.#runtime.spawnedActors.get(record.id)?.statusOf(baseRank(region, rank)).state ?? "lost";
  }

  meshStopped(mesh: MeshId): void {
    for (const { publication, mesh: own } of this.#own.values()) {
      if (viewOf(own).record.id !== mesh) continue;
      const { name, publisher } = publication;
      void this.remove(publication.id, `${publisher} has stopped the mesh that it had published as "${name}"`);
    }
  }

  moveSender(move: SenderMove): MovedSender {
    return this.#own.get(move.publication)?.messages.moveSender(move) ?? { isPublished: false };
  }

  publicationEnded(publication: bigint, reason: string, left: ProcId | undefined): void {
    const proxy = this.#proxies.get(publication);
    if (left === undefined) proxy?.end(reason);
    else proxy?.hostFailed(left, reason);
  }

  hostGone(host: ProcId, reason: string): void {
    for (const proxy of this.#proxies.values()) proxy.hostFailed(host, reason);
  }

  statusOf(mesh: MeshId, rank: number): RankStatus | undefined {
    for (const proxy of this.#proxies.values()) if (proxy.record.id === mesh) return proxy.statusOf(rank);
    return undefined;
  }

  /** Messages of other programs are sent by the root of this program. */
  #asRoot<T>(send: () => T): T {
    return runAsRoot(this.#runtime.mainProc.proc, send);
  }
}

/** Returns the publications of a process, and creates them on first use. */
export function publicationsOf(runtime: ProcessRuntime): ProgramPublications {
  const known = runtime.publishedMeshes;
  if (known instanceof ProgramPublications) return known;
  const made = new ProgramPublications(runtime);
  runtime.publishedMeshes = made;
  return made;
}
