/**
 * The procs that were spawned on a named mesh whose only host is this machine, so that they can be stopped together, like
 * those on attached hosts.
 */
import { reasonSuffix } from "../../actor/reference/mesh-record.js";
import type { StopOptions } from "../../actor/reference/stop-options.js";
import type { SpawnedProcs } from "../../proc/mesh/spawned-procs.js";

export class OwnHosts {
  readonly name: string;
  readonly #procs = new Set<SpawnedProcs>();
  #stopReason: string | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** @throws Error if the mesh has been stopped */
  checkOpen(): void {
    if (this.#stopReason === undefined) return;
    throw new Error(`cannot spawn procs: mesh "${this.name}" of hosts was stopped${reasonSuffix(this.#stopReason)}`);
  }

  /** Registers procs that were spawned on this mesh. */
  addProcs(procs: SpawnedProcs): void {
    for (const earlier of this.#procs) if (earlier.isStopping) this.#procs.delete(earlier);
    this.#procs.add(procs);
  }

  /** Stops all procs that were spawned on this mesh. Idempotent, never rejects. */
  async stop(options: StopOptions): Promise<void> {
    this.#stopReason ??= options.reason;
    await Promise.all([...this.#procs].map((procs) => procs.stop(options)));
  }
}
