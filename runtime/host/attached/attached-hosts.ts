/**
 * Hosts that were attached together, and the procs that were spawned on them. The actor that attached them is their
 * owner. `HostMesh` is the public handle of all of them or of a slice.
 */

import type { LocalActor } from "../../actor/reference/local-actor.js";
import { reasonSuffix } from "../../actor/reference/mesh-record.js";
import type { StopOptions } from "../../actor/reference/stop-options.js";
import type { SpawnedProcs } from "../../proc/mesh/spawned-procs.js";
import type { ProcessRuntime } from "../../proc/process/process-runtime.js";
import type { OwnedMesh } from "../../supervise/ownership.js";
import type { AttachedHost } from "./attached-host.js";

export class AttachedHosts implements OwnedMesh {
  readonly name: string;
  /** The hosts in rank order. */
  readonly hosts: readonly AttachedHost[];
  /** Resolves when all hosts have accepted this driver; rejects with the reason if one has not. */
  readonly ready: Promise<void>;
  readonly #runtime: ProcessRuntime;
  readonly #owner: LocalActor;
  readonly #procs = new Set<SpawnedProcs>();
  #stopReason: string | undefined;
  #stopping: Promise<void> | undefined;

  constructor(runtime: ProcessRuntime, owner: LocalActor, name: string, hosts: readonly AttachedHost[]) {
    this.#runtime = runtime;
    this.#owner = owner;
    this.name = name;
    this.hosts = hosts;
    this.ready = Promise.all(hosts.map(({ ready }) => ready)).then(() => {});
    this.ready.catch(() => {});
    runtime.ownership.add(owner, this);
    runtime.registerShutdown();
  }

  /** Registers procs that were spawned on these hosts. */
  addProcs(procs: SpawnedProcs): void {
    for (const earlier of this.#procs) if (earlier.isStopping) this.#procs.delete(earlier);
    this.#procs.add(procs);
  }

  /** @throws Error if the mesh has been stopped */
  checkOpen(): void {
    if (this.#stopReason !== undefined) {
      throw new Error(`cannot spawn procs: mesh "${this.name}" of hosts was stopped${reasonSuffix(this.#stopReason)}`);
    }
  }

  /** Stops all procs that were spawned here, and leaves the hosts. Idempotent, never rejects. */
  stop(options: StopOptions): Promise<void> {
    this.#stopping ??= this.#stop(options);
    return this.#stopping;
  }

  /** Stops all procs that were spawned here, and shuts the daemons down. @throws Error if a host could not be told */
  async shutdown(options: StopOptions): Promise<void> {
    this.checkOpen();
    this.#stopReason = options.reason;
    await this.#stopProcs(options);
    const told = await Promise.allSettled(this.hosts.map((host) => host.shutdown(options.reason)));
    await this.stop(options);
    const failed = told.find(({ status }) => status === "rejected") as PromiseRejectedResult | undefined;
    if (failed !== undefined)
      throw new Error(`cannot shut down mesh "${this.name}" of hosts: ${failed.reason.message}`);
  }

  async #stop(options: StopOptions): Promise<void> {
    this.#stopReason ??= options.reason;
    await this.#stopProcs(options);
    await Promise.all(this.hosts.map((host) => host.leave(options.reason)));
    this.#runtime.ownership.remove(this.#owner, this);
  }

  async #stopProcs(options: StopOptions): Promise<void> {
    await Promise.all([...this.#procs].map((procs) => procs.stop(options)));
    this.#procs.clear();
  }
}
