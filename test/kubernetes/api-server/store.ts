/**
 * The objects of the stand-in API server, with one version number for all of them, and the changes that watches read. It
 * does what etcd does for the real one, and forgets old changes as etcd does when it is compacted.
 */
import { randomUUID } from "node:crypto";
import { type ApiObject, qualifiedName, type Resource } from "./resources.js";
import { alreadyExists, conflict, expired, notFound } from "./status-error.js";

export interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly version: number;
  readonly resource: Resource;
  readonly object: ApiObject;
  /** The object before the change; undefined for a new one. Selectors may have matched it. */
  readonly before: ApiObject | undefined;
}

/** How many changes are kept for watches that begin in the past. */
const history = 5_000;

export class Store {
  #version = 1;
  /** The version before the oldest change that is known. */
  #oldest = 1;
  #changes: Change[] = [];
  #dry = false;
  readonly #objects = new Map<string, Map<string, ApiObject>>();
  readonly #listeners = new Set<(change: Change) => void>();

  get version(): number {
    return this.#version;
  }

  find(resource: Resource, namespace: string | undefined, name: string): ApiObject | undefined {
    const found = this.#of(resource).get(keyOf(namespace, name));
    return found === undefined ? undefined : structuredClone(found);
  }

  /** @throws StatusError if there is none */
  get(resource: Resource, namespace: string | undefined, name: string): ApiObject {
    const found = this.find(resource, namespace, name);
    if (found === undefined) throw notFound(resource, name);
    return found;
  }

  /** Returns the objects of a namespace, or of all, ordered by namespace and name. */
  list(resource: Resource, namespace?: string): ApiObject[] {
    const objects = [...this.#of(resource).entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
    const wanted =
      namespace === undefined ? objects : objects.filter(({ metadata }) => metadata.namespace === namespace);
    return structuredClone(wanted);
  }

  /** Stores a new object. @throws StatusError if its name is taken */
  create(resource: Resource, object: ApiObject): ApiObject {
    const { name, namespace } = object.metadata;
    const key = keyOf(namespace, name);
    if (this.#of(resource).has(key)) throw alreadyExists(resource, name);
    object.metadata.uid = randomUUID();
    object.metadata.creationTimestamp = timestamp();
    return this.#record("ADDED", resource, object, undefined);
  }

  /**
   * Replaces an object.
   * @throws StatusError if it is gone, or is not of the version that the new one names
   */
  update(resource: Resource, object: ApiObject): ApiObject {
    const { name, namespace, resourceVersion, uid } = object.metadata;
    const before = this.get(resource, namespace, name);
    if (resourceVersion && resourceVersion !== before.metadata.resourceVersion) {
      throw conflict(
        resource,
        name,
        "the object has been modified; please apply your changes to the latest version and try again",
      );
    }
    if (uid && uid !== before.metadata.uid) {
      throw conflict(
        resource,
        name,
        `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${before.metadata.uid}`,
      );
    }
    const { creationTimestamp } = before.metadata;
    Object.assign(object.metadata, { uid: before.metadata.uid, creationTimestamp });
    object.metadata.resourceVersion = before.metadata.resourceVersion;
    // A write that changes nothing has no version of its own, and no watch reports it.
    if (JSON.stringify(before) === JSON.stringify(object)) return before;
    return this.#record("MODIFIED", resource, object, before);
  }

  /** Removes an object at once. */
  remove(resource: Resource, object: ApiObject): ApiObject {
    return this.#record("DELETED", resource, object, object);
  }

  /** Changes an object by a function, which may be called with a copy of the stored object. */
  change(resource: Resource, { metadata }: ApiObject, edit: (object: ApiObject) => void): ApiObject | undefined {
    const object = this.find(resource, metadata.namespace, metadata.name);
    if (object === undefined || object.metadata.uid !== metadata.uid) return undefined;
    edit(object);
    return this.update(resource, object);
  }

  /**
   * Returns the changes after a version, and calls a function for each further one.
   * @throws StatusError if some of them have been forgotten
   */
  follow(since: number, listener: (change: Change) => void): { past: readonly Change[]; stop: () => void } {
    if (since < this.#oldest) throw expired(since, this.#oldest);
    this.#listeners.add(listener);
    const past = this.#changes.filter(({ version }) => version > since);
    return { past, stop: () => this.#listeners.delete(listener) };
  }

  /** Forgets all changes, so that a watch from an earlier version gets the error 410. */
  forget(): void {
    this.#changes = [];
    this.#oldest = ++this.#version;
  }

  /** Calls a function whose writes are checked and answered, and not stored. */
  dryRun<T>(call: () => T): T {
    this.#dry = true;
    try {
      return call();
    } finally {
      this.#dry = false;
    }
  }

  #of(resource: Resource): Map<string, ApiObject> {
    const name = qualifiedName(resource);
    let objects = this.#objects.get(name);
    if (objects === undefined) {
      objects = new Map();
      this.#objects.set(name, objects);
    }
    return objects;
  }

  #record(type: Change["type"], resource: Resource, object: ApiObject, before: ApiObject | undefined): ApiObject {
    if (this.#dry) return structuredClone(object);
    const version = ++this.#version;
    const stored = structuredClone(object);
    stored.metadata.resourceVersion = String(version);
    const key = keyOf(stored.metadata.namespace, stored.metadata.name);
    if (type === "DELETED") this.#of(resource).delete(key);
    else this.#of(resource).set(key, stored);
    const change: Change = { type, version, resource, object: structuredClone(stored), before };
    this.#changes.push(change);
    if (this.#changes.length > history) this.#oldest = this.#changes.shift()!.version;
    for (const listener of [...this.#listeners]) listener(change);
    return structuredClone(stored);
  }
}

function keyOf(namespace: string | undefined, name: string): string {
  return `${namespace ?? ""}/${name}`;
}

/** Returns the time as Kubernetes writes it, in whole seconds. */
export function timestamp(date = new Date()): string {
  return date.toISOString().replace(/\.\d+Z$/, "Z");
}
