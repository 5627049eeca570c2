/**
 * Who owns which meshes: a strict tree. An owner is an actor, or the root of a process for code outside any actor; a
 * mesh has exactly one owner from its spawning to its end and never outlives it. Failures are no concern of this file.
 */
import type { StopOptions } from "../actor/reference/stop-options.js";

/** A mesh as its owner sees it. */
export interface OwnedMesh {
  readonly name: string;
  /** Idempotent, never rejects. */
  stop(options: StopOptions): Promise<void>;
}

/** The meshes of all owners in this operating-system process. Owners are known by identity. */
export class Ownership<Owner extends object> {
  readonly #owned = new Map<Owner, Set<OwnedMesh>>();
  readonly #closed = new WeakSet<Owner>();

  /** What the owner has is being stopped: what it might still spawn would outlive it. */
  close(owner: Owner): void {
    this.#closed.add(owner);
  }

  /** Later than the owner takes no more messages: those that it had are handled first, and may spawn. */
  isClosed(owner: Owner): boolean {
    return this.#closed.has(owner);
  }

  add(owner: Owner, mesh: OwnedMesh): void {
    const meshes = this.#owned.get(owner);
    if (meshes === undefined) this.#owned.set(owner, new Set([mesh]));
    else meshes.add(mesh);
  }

  /** Forgets a mesh that has ended. */
  remove(owner: Owner, mesh: OwnedMesh): void {
    const meshes = this.#owned.get(owner);
    if (meshes?.delete(mesh) && meshes.size === 0) this.#owned.delete(owner);
  }

  ownedBy(owner: Owner): readonly OwnedMesh[] {
    return [...(this.#owned.get(owner) ?? [])];
  }

  /**
   * Stops what `owner` owns, also what it goes on to spawn meanwhile. All at the same time: processes stop the actors in
   * them before they end, and an actor need not wait for one that does not answer. Never rejects.
   */
  async stopOwned(owner: Owner, options: StopOptions): Promise<void> {
    for (let meshes = this.ownedBy(owner); meshes.length > 0; meshes = this.ownedBy(owner)) {
      await Promise.all(meshes.map((mesh) => mesh.stop(options)));
      for (const mesh of meshes) this.remove(owner, mesh);
    }
  }

  /** Whether anything is owned by anyone. */
  get isEmpty(): boolean {
    return this.#owned.size === 0;
  }
}
