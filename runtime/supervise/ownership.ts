/**
 * The owners of meshes, which form a strict tree. An owner is an actor, or the root of a process for code outside of
 * actors. A mesh has exactly one owner from its spawning to its end, and never outlives it. Failures are handled in
 * supervisor.ts.
 */
import type { StopOptions } from "../actor/reference/stop-options.js";

/** A mesh as its owner sees it. */
export interface OwnedMesh {
  readonly name: string;
  /** Stops the mesh. Idempotent, never rejects. */
  stop(options: StopOptions): Promise<void>;
}

/** The meshes of all owners in this operating-system process. Owners are compared by identity. */
export class Ownership<Owner extends object> {
  readonly #owned = new Map<Owner, Set<OwnedMesh>>();
  readonly #closed = new WeakSet<Owner>();

  /** Forbids the owner to spawn meshes, because its meshes are being stopped and a new one would outlive it. */
  close(owner: Owner): void {
    this.#closed.add(owner);
  }

  /**
   * Returns whether the owner may no longer spawn meshes. An owner that takes no more messages still handles those in its
   * mailbox, which may spawn, and is closed afterwards.
   */
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
   * Stops the meshes of `owner`, including those that it spawns meanwhile. All of them are stopped at the same time:
   * processes stop their actors before they end, and no actor has to wait for one that does not answer. Never rejects.
   */
  async stopOwned(owner: Owner, options: StopOptions): Promise<void> {
    for (let meshes = this.ownedBy(owner); meshes.length > 0; meshes = this.ownedBy(owner)) {
      await Promise.all(meshes.map((mesh) => mesh.stop(options)));
      for (const mesh of meshes) this.remove(owner, mesh);
    }
  }

  /** All meshes with their owners. */
  get all(): readonly (readonly [owner: Owner, mesh: OwnedMesh])[] {
    return [...this.#owned].flatMap(([owner, meshes]) => [...meshes].map((mesh) => [owner, mesh] as const));
  }

  /** Whether no owner has a mesh. */
  get isEmpty(): boolean {
    return this.#owned.size === 0;
  }
}
