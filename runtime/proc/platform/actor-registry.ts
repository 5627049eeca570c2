/**
 * Which actor classes there are: what generated registries say of them, and the way from a class to its id and back.
 * An actor class is identified by `<package>/<module path>#<export name>`; its name in the source plays no part but to
 * guess which module to look into first. Loading is lazy: a process imports the module of an actor when the first one
 * of its class is spawned there.
 */
import type { ActorClass } from "../../actor/reference/proc-hooks.js";
import type { ActorDescriptor } from "../../wire/descriptor.js";
import { importModule } from "./import-module.js";

/** One actor class of a generated registry. */
export interface ActorEntry {
  /** The key of the actor interface: `my-app/schemas/counter#Counter`. */
  readonly schema: string;
  /** Imports the module that exports the class, and returns the class. */
  readonly load: () => Promise<unknown>;
}

/** The content of a generated registry. */
export interface Registration {
  /** The name of the package. */
  readonly package: string;
  /** The version of Viceroy that generated the registry. */
  readonly version: string;
  /** The fingerprints of the schemas of the generated modules, by the key of the schema. */
  readonly schemas: Readonly<Record<string, bigint>>;
  /** The actor classes, by their ids: `<module path>#<export name>`. */
  readonly actors: Readonly<Record<string, ActorEntry>>;
}

/** How another process finds an actor class: the registry's place, and the id in it. */
export interface ClassReference {
  readonly registry: string;
  readonly id: string;
}

interface ClassCandidate extends ClassReference {
  readonly entry: ActorEntry;
}

const compileHint = "run `npx viceroy compile`";

export class ActorRegistry {
  readonly #registrations = new Map<string, Registration>();
  readonly #resolved = new Map<ActorClass, ClassReference>();
  readonly #loading = new Map<string, Promise<ActorClass>>();
  /** What has been loaded, and so can no more turn out to be some class that is looked for. */
  readonly #loaded = new Set<ActorEntry>();

  /** Packages whose actors come from these registries alone: those of the build that this process was started with. */
  readonly #restrictions = new Map<string, readonly string[]>();

  /** The places of all registries, in the order in which they were loaded. */
  get registryUrls(): string[] {
    return [...this.#registrations.keys()];
  }

  /** Takes in a generated registry. The same place again replaces what was known of it. */
  add(url: string, registration: Registration): void {
    this.#registrations.set(url, registration);
  }

  /**
   * This process runs the build that these registries are of: no actor of their packages is taken from another build, which
   * would be an old one where processes are replaced.
   */
  restrictTo(urls: readonly string[]): void {
    for (const url of urls) {
      const registration = this.#registrations.get(url);
      if (registration === undefined) continue;
      this.#restrictions.set(registration.package, [...(this.#restrictions.get(registration.package) ?? []), url]);
    }
  }

  /**
   * What is known of a class without loading anything.
   * @throws TypeError if it is no actor class, Error if no registry has one of its schema or a registry is stale
   */
  descriptorOf(actorClass: ActorClass): ActorDescriptor {
    const descriptor = checkActorClass(actorClass);
    this.#checkFingerprint(descriptor);
    if (!this.#resolved.has(actorClass) && this.#candidates(descriptor).length === 0)
      throw notRegisteredError(actorClass);
    return descriptor;
  }

  /** Loads the modules that may export the class until one does. Rejects if none does. */
  async resolve(actorClass: ActorClass): Promise<ClassReference> {
    const descriptor = checkActorClass(actorClass);
    for (const candidate of sortByNameMatch(this.#candidates(descriptor), actorClass.name)) {
      const known = this.#resolved.get(actorClass);
      if (known !== undefined) return known;
      await loadWithTimeout(this.#load(candidate), actorClass, candidate.id);
    }
    const found = this.#resolved.get(actorClass);
    if (found === undefined) throw notRegisteredError(actorClass);
    return found;
  }

  /** The reference of a class that has been resolved before. */
  referenceOf(actorClass: ActorClass): ClassReference | undefined {
    return this.#resolved.get(actorClass);
  }

  /**
   * The class that another process means, in the build that this one runs: of what it has loaded itself, or else of the
   * registry of the other process. Loads the module; rejects if it lacks the class.
   */
  async find(reference: ClassReference): Promise<ActorClass> {
    const registry = await this.#registryOf(reference);
    const entry = this.#registrations.get(registry)?.actors[reference.id];
    if (entry === undefined) throw this.#missingClass(reference.id, [registry]);
    const actorClass = await this.#load({ registry, id: reference.id, entry });
    this.#checkFingerprint(actorClass.descriptor);
    return actorClass;
  }

  /** Another build of the same package has other places and the same ids. */
  async #registryOf({ registry, id }: ClassReference): Promise<string> {
    if (this.#registrations.has(registry)) return registry;
    for (const [url, { actors }] of this.#registrations) if (Object.hasOwn(actors, id)) return url;
    for (const [name, urls] of this.#restrictions) if (id.startsWith(`${name}/`)) throw this.#missingClass(id, urls);
    await importModule(registry);
    return registry;
  }

  /** @param urls of the registries that should have an actor */
  #missingClass(id: string, urls: readonly string[]): Error {
    const name = id.slice(id.lastIndexOf("#"));
    const ids = urls.flatMap((url) => Object.keys(this.#registrations.get(url)?.actors ?? {}));
    const moved = ids.find((other) => other.endsWith(name));
    const what = `cannot load ${id}: ${urls.join(" and ")} does not have it`;
    if (moved === undefined) {
      return new Error(`${what}; ${compileHint}, or keep the actor until no process runs a build that spawns it`);
    }
    const text = `${what}, but has ${moved}; keep the old path of a module that was moved until all processes were replaced`;
    return new Error(text);
  }

  #candidates(descriptor: ActorDescriptor): ClassCandidate[] {
    const found: ClassCandidate[] = [];
    for (const [registry, { actors }] of this.#registrations) {
      for (const [id, entry] of Object.entries(actors)) {
        if (entry.schema === descriptor.key && !this.#loaded.has(entry)) found.push({ registry, id, entry });
      }
    }
    return found;
  }

  #load(candidate: ClassCandidate): Promise<ActorClass> {
    const key = `${candidate.registry} ${candidate.id}`;
    let loading = this.#loading.get(key);
    if (loading === undefined) {
      loading = candidate.entry.load().then((value) => this.#register(candidate, value));
      this.#loading.set(key, loading);
      // A module that failed to load may load another time: what it lacked may be there then.
      loading.catch(() => this.#loading.delete(key));
    }
    return loading;
  }

  #register({ registry, id, entry }: ClassCandidate, value: unknown): ActorClass {
    if (typeof value !== "function" || descriptorProperty(value)?.key !== entry.schema) {
      throw new Error(`cannot load ${id}: its module exports no actor of ${entry.schema} by that name; ${compileHint}`);
    }
    const actorClass = value as unknown as ActorClass;
    this.#resolved.set(actorClass, { registry, id });
    this.#loaded.add(entry);
    return actorClass;
  }

  #checkFingerprint({ key, fingerprint }: ActorDescriptor): void {
    for (const [url, { schemas }] of this.#registrations) {
      const registered = schemas[key];
      if (registered === undefined || registered === fingerprint) continue;
      throw new Error(
        `cannot use ${key}: its generated module and ${url} are of different schemas; ${compileHint}, ` +
          `got fingerprints ${hex(fingerprint)} and ${hex(registered)}`,
      );
    }
  }
}

/** @throws TypeError if the value is no class that extends a generated actor */
function checkActorClass(actorClass: unknown): ActorDescriptor {
  const descriptor = typeof actorClass === "function" ? descriptorProperty(actorClass) : undefined;
  if (descriptor !== undefined) return descriptor;
  const got = typeof actorClass === "function" ? `class ${actorClass.name}` : String(actorClass);
  throw new TypeError(`cannot spawn an actor: expected a class that extends a generated actor, got ${got}`);
}

function descriptorProperty(value: object): ActorDescriptor | undefined {
  return (value as { descriptor?: ActorDescriptor }).descriptor;
}

function notRegisteredError(actorClass: ActorClass): Error {
  return new Error(
    `cannot spawn ${actorClass.name}: not registered; export it from a module that viceroy.config.ts names under ` +
      `"actors", ${compileHint} and import the generated registry`,
  );
}

/** How long the module of a class that is at hand may take to be loaded, in ms. */
const loadLimit = 10_000;

/**
 * A module that spawns, while it is being evaluated, an actor that it exports itself waits for its own end. The limit
 * also keeps this process alive until the error is out.
 */
async function loadWithTimeout(load: Promise<unknown>, actorClass: ActorClass, id: string): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(stillLoadingError(actorClass, id)), loadLimit);
  });
  try {
    await Promise.race([load, late]);
  } finally {
    clearTimeout(timer);
  }
}

function stillLoadingError(actorClass: ActorClass, id: string): Error {
  return new Error(
    `cannot spawn ${actorClass.name}: its module is still being loaded; a module cannot spawn the actors that it ` +
      `exports while it is evaluated: move the class to a module of its own, got ${id.slice(0, id.lastIndexOf("#"))}`,
  );
}

/** The name in the source is a hint only: most often, one module is loaded instead of all that implement a schema. */
function sortByNameMatch(candidates: readonly ClassCandidate[], name: string): ClassCandidate[] {
  const likely = (candidate: ClassCandidate) => (candidate.id.endsWith(`#${name}`) ? 0 : 1);
  return [...candidates].sort((a, b) => likely(a) - likely(b));
}

function hex(fingerprint: bigint): string {
  return `0x${fingerprint.toString(16).padStart(16, "0")}`;
}

/** The registry of this operating-system process (or thread). */
export const actorRegistry = new ActorRegistry();

/**
 * Registers the actor classes of a package. Called by `generated/registry.ts`.
 *
 * @param url `import.meta.url` of the registry, from which child processes load it
 * @param registration the actor classes
 */
export function registerActors(url: string, registration: Registration): void {
  actorRegistry.add(url, registration);
}
