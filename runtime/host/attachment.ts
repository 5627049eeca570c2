/**
 * Hosts that were attached together, and what was made on them: owned by the actor that attached them. Handles and slices of it
 * are HostMesh.
 */
import { because } from "../actor/address.js";
import type { Cell } from "../actor/cell.js";
import type { StopOptions } from "../actor/hooks.js";
import type { Local } from "../proc/local.js";
import type { SpawnedProcs } from "../proc/spawned-procs.js";
import type { Owned } from "../supervise/ownership.js";
import type { AttachedHost } from "./attached-host.js";

export class Attachment implements Owned {
  readonly name: string;
  /** In rank order. */
  readonly hosts: readonly AttachedHost[];
  /** Resolves when all hosts have let this driver in; rejects with why one has not. */
  readonly ready: Promise<void>;
  readonly #local: Local;
  readonly #owner: Cell;
  readonly #procs = new Set<SpawnedProcs>();
  #stopped: string | undefined;
  #stopping: Promise<void> | undefined;

  constructor(local: Local, owner: Cell, name: string, hosts: readonly AttachedHost[]) {
    this.#local = local;
    this.#owner = owner;
    this.name = name;
    this.hosts = hosts;
    this.ready = Promise.all(hosts.map(({ ready }) => ready)).then(() => {});
    this.ready.catch(() => {});
    local.ownership.add(owner, this);
    local.endInOrder();
  }

  /** Procs have been made here. */
  add(procs: SpawnedProcs): void {
    for (const earlier of this.#procs) if (earlier.over) this.#procs.delete(earlier);
    this.#procs.add(procs);
  }

  /** @throws Error if the hosts have been left */
  check(): void {
    if (this.#stopped !== undefined) {
      throw new Error(`cannot spawn procs: mesh "${this.name}" of hosts was stopped${because(this.#stopped)}`);
    }
  }

  /** Stops all procs that were made here, and leaves the hosts. Idempotent, never rejects. */
  stop(options: StopOptions): Promise<void> {
    this.#stopping ??= this.#stop(options);
    return this.#stopping;
  }

  /** Stops all procs that were made here, and ends the daemons. @throws Error for hosts that could not be told */
  async shutdown(options: StopOptions): Promise<void> {
    this.check();
    this.#stopped = options.reason;
    await this.#stopProcs(options);
    const told = await Promise.allSettled(this.hosts.map((host) => host.shutdown(options.reason)));
    await this.stop(options);
    const failed = told.find(({ status }) => status === "rejected") as PromiseRejectedResult | undefined;
    if (failed !== undefined)
      throw new Error(`cannot shut down mesh "${this.name}" of hosts: ${failed.reason.message}`);
  }

  async #stop(options: StopOptions): Promise<void> {
    this.#stopped ??= options.reason;
    await this.#stopProcs(options);
    await Promise.all(this.hosts.map((host) => host.leave(options.reason)));
    this.#local.ownership.remove(this.#owner, this);
  }

  async #stopProcs(options: StopOptions): Promise<void> {
    await Promise.all([...this.#procs].map((procs) => procs.stop(options)));
    this.#procs.clear();
  }
}
