/**
 * The actor classes of this process: the content of the generated registries, and the mapping between a class and its
 * id. The id of an actor class is `<package>/<module path>#<export name>`. The class name in the source is only a hint
 * which module to load first. Loading is lazy: a process imports the module of an actor class when the first actor of
 * this class is spawned there.
 */
import type { ActorClass } from "../../actor/reference/actor-request.js";
import { isInlined } from "../../inlined.js";
import type { ActorDescriptor } from "../../wire/descriptor.js";
import {
  compileHint,
  explainMissingPackage,
  missingImportError,
  notRegisteredError,
  stillLoadingError,
} from "./actor-registry-errors.js";
import { explainImportError } from "./import-error.js";
import { importModule } from "./import-module.js";
import { locateModule, originOfModule } from "./program-places.js";

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

/**
 * The reference by which another process finds an actor class: the URL of a registry on the driver's machine, and the id in this
 * registry.
 */
export interface ClassReference {
  readonly registry: string;
  readonly id: string;
}

interface ClassCandidate extends ClassReference {
  readonly entry: ActorEntry;
}

/** The beginning of the URL of a registry in a program that was bundled into one CommonJS file. */
const programScheme = "program:";

export class ActorRegistry {
  /** By URL, and then by package: a bundler can put the registries of several packages into one file. */
  readonly #registrations = new Map<string, Map<string, Registration>>();
  readonly #resolved = new Map<ActorClass, ClassReference>();
  readonly #loading = new Map<string, Promise<ActorClass>>();
  /** Entries that have been loaded. A search for an unresolved class skips them. */
  readonly #loaded = new Set<ActorEntry>();

  /**
   * The registries that may provide the actors of a package, for packages of the build that this process was started
   * with.
   */
  readonly #restrictions = new Map<string, readonly string[]>();

  /** The URLs of all registries, in the order in which they were loaded. */
  get registryUrls(): string[] {
    return [...this.#registrations.keys()];
  }

  /** Adds a generated registry. A registry of the same package with the same URL is replaced. */
  add(url: string, registration: Registration): void {
    const packages = this.#registrations.get(url) ?? new Map<string, Registration>();
    this.#registrations.set(url, packages.set(registration.package, registration));
  }

  /** Yields all registries with their URLs, in the order in which they were loaded. */
  *#all(): Generator<readonly [url: string, registration: Registration]> {
    for (const [url, packages] of this.#registrations) for (const one of packages.values()) yield [url, one];
  }

  #entryOf({ registry, id }: ClassReference): ActorEntry | undefined {
    for (const { actors } of this.#registrations.get(registry)?.values() ?? [])
      if (Object.hasOwn(actors, id)) return actors[id];
    return undefined;
  }

  /**
   * Restricts the packages of these registries to them: this process runs the build that the registries belong to. No
   * actor of these packages is loaded from another build, which would be an older build where processes are replaced.
   */
  restrictTo(urls: readonly string[]): void {
    for (const url of urls) {
      for (const name of this.#registrations.get(url)?.keys() ?? [])
        this.#restrictions.set(name, [...(this.#restrictions.get(name) ?? []), url]);
    }
  }

  /**
   * Returns the descriptor of a class without loading anything.
   * @throws TypeError if the value is not an actor class; Error if no registry has a class of its schema or a registry
   * is stale
   */
  descriptorOf(actorClass: ActorClass): ActorDescriptor {
    const descriptor = checkActorClass(actorClass);
    this.#checkFingerprint(descriptor);
    if (!this.#resolved.has(actorClass) && this.#candidates(descriptor).length === 0)
      throw this.#unregisteredClass(actorClass, descriptor);
    return descriptor;
  }

  /** Loads the modules that may export the class, one after another, until one does. Rejects if none does. */
  async resolve(actorClass: ActorClass): Promise<ClassReference> {
    const descriptor = checkActorClass(actorClass);
    for (const candidate of sortByNameMatch(this.#candidates(descriptor), actorClass.name)) {
      const known = this.#resolved.get(actorClass);
      if (known !== undefined) return known;
      await loadWithTimeout(this.#load(candidate), actorClass, candidate.id);
    }
    const found = this.#resolved.get(actorClass);
    if (found === undefined) throw this.#unregisteredClass(actorClass, descriptor);
    return found;
  }

  /** Returns the reference of a class that has been resolved before. */
  referenceOf(actorClass: ActorClass): ClassReference | undefined {
    return this.#resolved.get(actorClass);
  }

  /**
   * Returns the class to which another process refers, in the build that this process runs. The class comes from the
   * registries that are loaded here, or else from the registry of the other process. Loads the module; rejects if the
   * module lacks the class.
   */
  async find(reference: ClassReference): Promise<ActorClass> {
    const registry = await this.#registryOf(reference);
    const entry = this.#entryOf({ registry, id: reference.id });
    if (entry === undefined) throw this.#missingClass(reference.id, [registry]);
    const actorClass = await this.#load({ registry, id: reference.id, entry });
    this.#checkFingerprint(actorClass.descriptor);
    return actorClass;
  }

  /**
   * Returns the URL of the registry for a reference. Another build of the same package has another URL and the same
   * ids.
   */
  async #registryOf(reference: ClassReference): Promise<string> {
    const { id } = reference;
    const registry = locateModule(reference.registry);
    if (this.#registrations.has(registry)) return registry;
    for (const [url, { actors }] of this.#all()) if (Object.hasOwn(actors, id)) return url;
    for (const [name, urls] of this.#restrictions) if (id.startsWith(`${name}/`)) throw this.#missingClass(id, urls);
    if (registry.startsWith(programScheme)) throw this.#missingClass(id, this.registryUrls);
    try {
      await importModule(registry);
    } catch (error) {
      throw explainImportError(error, `the registry ${registry}`);
    }
    return registry;
  }

  /**
   * Returns the error for a class that no registry exports. If a registry exports a class of the same name and schema,
   * the program probably has a second copy of the module, because a bundler has copied it into two files.
   */
  #unregisteredClass(actorClass: ActorClass, { key }: ActorDescriptor): Error {
    for (const [registered, { registry, id }] of this.#resolved) {
      if (registered.descriptor.key !== key || registered.name !== actorClass.name) continue;
      return new Error(
        `cannot spawn ${actorClass.name}: ${id} of ${registry} is another class of this name, as when a bundler has ` +
          "copied its module; bundle the program and the generated registry in one run with shared chunks",
      );
    }
    return notRegisteredError(actorClass, this.registryUrls);
  }

  /** @param urls the registries that should contain the actor */
  #missingClass(id: string, urls: readonly string[]): Error {
    if (isInlined) return missingImportError(id, urls);
    const name = id.slice(id.lastIndexOf("#"));
    const registrations = urls.flatMap((url) => [...(this.#registrations.get(url)?.values() ?? [])]);
    const ids = registrations.flatMap(({ actors }) => Object.keys(actors));
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
    for (const [registry, { actors }] of this.#all()) {
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
      loading = candidate.entry.load().then(
        (value) => this.#register(candidate, value),
        (error: unknown) => {
          throw explainImportError(explainMissingPackage(error, candidate), candidate.id);
        },
      );
      this.#loading.set(key, loading);
      // A later attempt may succeed: a file that the module needs may exist by then.
      loading.catch(() => this.#loading.delete(key));
    }
    return loading;
  }

  #register({ registry, id, entry }: ClassCandidate, value: unknown): ActorClass {
    if (typeof value !== "function" || descriptorProperty(value)?.key !== entry.schema) {
      throw new Error(`cannot load ${id}: its module exports no actor of ${entry.schema} by that name; ${compileHint}`);
    }
    const actorClass = value as unknown as ActorClass;
    this.#resolved.set(actorClass, { registry: originOfModule(registry), id });
    this.#loaded.add(entry);
    return actorClass;
  }

  #checkFingerprint({ key, fingerprint }: ActorDescriptor): void {
    for (const [url, { schemas }] of this.#all()) {
      const registered = schemas[key];
      if (registered === undefined || registered === fingerprint) continue;
      throw new Error(
        `cannot use ${key}: its generated module and ${url} are of different schemas; ${compileHint}, ` +
          `got fingerprints ${hex(fingerprint)} and ${hex(registered)}`,
      );
    }
  }
}

/** @throws TypeError if the value is not a class that extends a generated actor */
function checkActorClass(actorClass: unknown): ActorDescriptor {
  const descriptor = typeof actorClass === "function" ? descriptorProperty(actorClass) : undefined;
  if (descriptor !== undefined) return descriptor;
  const got = typeof actorClass === "function" ? `class ${actorClass.name}` : String(actorClass);
  throw new TypeError(`cannot spawn an actor: expected a class that extends a generated actor, got ${got}`);
}

function descriptorProperty(value: object): ActorDescriptor | undefined {
  return (value as { descriptor?: ActorDescriptor }).descriptor;
}

/** Time limit in ms for loading the module of a class that the caller already holds. */
const loadLimit = 10_000;

/**
 * Fails if the module is not loaded in time. A module that spawns an exported actor during its own evaluation would
 * wait for itself for ever. The timer also keeps this process alive until the error has been reported.
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

/**
 * Sorts candidates whose export has the name of the class to the front. Usually one module is then loaded instead of
 * all modules that implement the schema.
 */
function sortByNameMatch(candidates: readonly ClassCandidate[], name: string): ClassCandidate[] {
  const likely = (candidate: ClassCandidate) => (candidate.id.endsWith(`#${name}`) ? 0 : 1);
  return [...candidates].sort((a, b) => likely(a) - likely(b));
}

function hex(fingerprint: bigint): string {
  return `0x${fingerprint.toString(16).padStart(16, "0")}`;
}

/** The registry of this operating-system process or thread. */
export const actorRegistry = new ActorRegistry();

/**
 * Registers the actor classes of a package. Called by `generated/registry.ts`.
 *
 * @param url `import.meta.url` of the registry, from which child processes load it. It is undefined in a program that
 * was bundled into one CommonJS file: its child processes run the same file and register the same classes.
 * @param registration the actor classes
 */
export function registerActors(url: string | undefined, registration: Registration): void {
  actorRegistry.add(url ?? `${programScheme}${registration.package}`, registration);
}
