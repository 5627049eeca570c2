/**
 * The meshes that drivers have published on this host, by name. Only their descriptions are here: the messages to them go
 * through the sessions of both drivers (`publication-relay.ts`).
 */
import type { FoundPublication, Publication } from "../../../generated/published.js";

/** A driver that publishes or looks up, as the register sees it. */
export interface PublicationUser {
  /**
   * Tells the driver that a mesh that it has looked up is not published any more: on no host, or only on this one
   * (`here`), because its driver has left it.
   */
  publicationEnded(publication: bigint, reason: string, where: "everywhere" | "here"): void;
}

/** A published mesh with its driver, and the drivers that have looked it up. */
export interface Published<U extends PublicationUser = PublicationUser> {
  readonly publication: Publication;
  readonly by: U;
  readonly seekers: Set<U>;
}

/** The largest number of meshes that one driver publishes. It bounds the memory of the host. */
const MOST_PER_DRIVER = 1024;

export class Publications<U extends PublicationUser> {
  readonly #byName = new Map<string, Published<U>>();
  readonly #byId = new Map<bigint, Published<U>>();
  /** The functions that are called when a mesh is published, by its name. */
  readonly #waiting = new Map<string, Set<() => void>>();

  /** @throws Error if another mesh has the name, or the driver has published too many meshes */
  add(publication: Publication, by: U): void {
    const { name, id } = publication;
    const other = this.#byName.get(name);
    if (other !== undefined) {
      const whom = other.by === by ? "this program" : other.publication.publisher;
      throw new Error(
        `${whom} has published a mesh by this name already; take another name, or withdraw that mesh first`,
      );
    }
    const count = [...this.#byId.values()].filter((published) => published.by === by).length;
    if (count >= MOST_PER_DRIVER) throw new Error(`this program has published ${count} meshes, which is the limit`);
    const published = { publication, by, seekers: new Set<U>() };
    this.#byName.set(name, published);
    this.#byId.set(id, published);
    const waiting = this.#waiting.get(name);
    this.#waiting.delete(name);
    for (const notify of waiting ?? []) notify();
  }

  /**
   * Removes a mesh that `by` has published, and tells the drivers that have looked it up. Idempotent.
   *
   * @param where whether the mesh is withdrawn from all hosts, or its driver has left this host
   */
  remove(id: bigint, by: U, reason: string, where: "everywhere" | "here" = "everywhere"): void {
    const published = this.#byId.get(id);
    if (published?.by !== by) return;
    this.#byId.delete(id);
    this.#byName.delete(published.publication.name);
    for (const seeker of published.seekers) seeker.publicationEnded(id, reason, where);
  }

  /** Names another process as the owner of the meshes that `by` has published. */
  renamePublisher(by: U, publisher: string): void {
    for (const [id, published] of this.#byId) {
      if (published.by !== by) continue;
      const renamed = { ...published, publication: { ...published.publication, publisher } };
      this.#byId.set(id, renamed);
      this.#byName.set(published.publication.name, renamed);
    }
  }

  /** Removes everything of a driver whose session ends. */
  removeAllOf(user: U): void {
    for (const { publication, by, seekers } of [...this.#byId.values()]) {
      seekers.delete(user);
      if (by !== user) continue;
      const { id, name, publisher } = publication;
      this.remove(id, user, `${publisher}, which had published "${name}", has ended or has left the host`, "here");
    }
  }

  /** The names of the published meshes, sorted. */
  get names(): string[] {
    return [...this.#byName.keys()].sort();
  }

  /** Returns a published mesh, or undefined if there is none with this id. */
  find(id: bigint): Published<U> | undefined {
    return this.#byId.get(id);
  }

  /** Returns a published mesh for a driver that will use it, or undefined if there is none with this id. */
  use(id: bigint, seeker: U): Published<U> | undefined {
    const published = this.#byId.get(id);
    published?.seekers.add(seeker);
    return published;
  }

  /** Returns the mesh that is published by a name, for a driver that will use it. */
  findByName(name: string, seeker: U): FoundPublication {
    const published = this.#byName.get(name);
    if (published === undefined) return { names: this.names };
    published.seekers.add(seeker);
    return { publication: published.publication, names: [] };
  }

  /** Calls `notify` once when a mesh is published by a name. @returns a function that stops waiting */
  onPublished(name: string, notify: () => void): () => void {
    const waiting = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, waiting);
    waiting.add(notify);
    return () => {
      waiting.delete(notify);
      if (waiting.size === 0 && this.#waiting.get(name) === waiting) this.#waiting.delete(name);
    };
  }
}
