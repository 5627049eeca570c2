/** `lookup`: finds a mesh that another program has published on a host that both have attached. */
import type { FoundPublication, Publication } from "../../../generated/published.js";
import { describeValue } from "../../../shared/text/describe-value.js";
import { Actor } from "../../actor/actor.js";
import { TimeoutError } from "../../actor/errors.js";
import type { ActorMesh } from "../../actor/mesh/actor-mesh.js";
import type { Apply } from "../../actor/mesh-kind.js";
import { schemaDifferences } from "../../actor/schema/compare-schemas.js";
import { MAX_TIMER_MS } from "../../link/clock.js";
import { currentRuntime } from "../../proc/process/current-runtime.js";
import { checkOptionNames } from "../../shape/index.js";
import { type ActorDescriptor, loadedInterface } from "../../wire/descriptor.js";
import type { AttachedHost } from "../attached/attached-host.js";
import { checkPublicationName, readyHosts } from "./check-name.js";
import { publicationsOf } from "./program-publications.js";

/** The options of {@link lookup}. */
export interface LookupOptions {
  /**
   * The time for which the function waits until a mesh is published by the name, in milliseconds. Default: 0, so that it
   * rejects at once if there is none.
   */
  readonly timeout?: number;
}

/** A generated class, such as `IndexActor`, or a class that extends one. `lookup` takes the actor interface from it. */
export interface LookupClass {
  /** The type of the actors. */
  readonly prototype: Actor;
  /** Describes the actor interface. Generated code sets it. */
  readonly descriptor: ActorDescriptor;
}

/** A mesh that was found on a host. */
interface Found {
  readonly host: AttachedHost;
  readonly publication: Publication;
}

/**
 * Returns the mesh that a program has published by a name, on any of the hosts that this program has attached. The mesh
 * can be called, sliced and sent to actors as a mesh of this program. Its actors belong to the other program: this one
 * cannot stop them, and is not their owner when they fail. The messages go through the host.
 *
 * The generated class tells the function which interface the mesh has. Without it, the generated module of the interface
 * must have been imported as code, not only as types.
 *
 * @example
 * ```ts
 * import { attachHosts, type LookupClass, lookup } from "viceroy";
 *
 * declare const IndexActor: LookupClass;
 * await using hosts = attachHosts(["tcp://node1:26600"]);
 * const index = await lookup("index", IndexActor, { timeout: 5000 });
 * ```
 *
 * @param name the name that was given to {@link publish}
 * @param actorClass the generated class of the actor interface
 * @param options how long to wait
 * @returns the mesh; the names of its dimensions are not checked, but the schemas of both programs are compared
 * @throws {TypeError} as a rejection, when an option is malformed, or `actorClass` is no generated class
 * @throws {RangeError} as a rejection, when the name is empty or too long, or a number is out of range
 * @throws {TimeoutError} as a rejection, when nothing has been published by the name within the time
 * @throws {Error} as a rejection, when nothing is published by the name, no host is attached or one cannot be reached,
 *   the mesh has another interface, the generated module is not loaded, or the schemas are incompatible
 */
export function lookup<C extends LookupClass, D extends string = string>(
  name: string,
  actorClass: C,
  options?: LookupOptions,
): Promise<Apply<C["prototype"]["$kind"], D>>;
/**
 * Does the same for a mesh whose type the caller names, with the names of its dimensions.
 *
 * @param name the name that was given to {@link publish}
 * @param actorClass the generated class of the actor interface
 * @param options how long to wait
 */
export function lookup<M extends ActorMesh>(name: string, actorClass: LookupClass, options?: LookupOptions): Promise<M>;
/**
 * Does the same for an interface whose generated module has been imported as code.
 *
 * @param name the name that was given to {@link publish}
 * @param options how long to wait
 */
export function lookup<M extends ActorMesh>(name: string, options?: LookupOptions): Promise<M>;
export async function lookup(
  name: string,
  classOrOptions: LookupClass | LookupOptions = {},
  more: LookupOptions = {},
): Promise<ActorMesh> {
  checkPublicationName("look up a mesh", name);
  const what = `look up ${JSON.stringify(name)}`;
  const wanted = wantedInterface(what, classOrOptions);
  const options = wanted === undefined ? (classOrOptions as LookupOptions) : more;
  const timeout = checkOptions(what, options);
  const runtime = currentRuntime();
  const hosts = await readyHosts(what, runtime);
  const found = await find(what, name, hosts, timeout);
  const descriptor = compatibleInterface(what, found.publication, wanted);
  return publicationsOf(runtime).meshOf(found.publication, found.host, descriptor);
}

/** Returns the interface of a class; undefined if options were given instead of one. @throws TypeError for other classes */
function wantedInterface(what: string, given: LookupClass | LookupOptions): ActorDescriptor | undefined {
  if (typeof given !== "function") return undefined;
  const { prototype, descriptor, name } = given as LookupClass & { readonly name: string };
  if (prototype instanceof Actor && descriptor !== undefined) return descriptor;
  throw new TypeError(`cannot ${what}: expected a generated class such as IndexActor, got class ${name}`);
}

function checkOptions(what: string, options: LookupOptions): number {
  checkOptionNames(`cannot ${what}`, options, ["timeout"]);
  const { timeout = 0 } = options;
  if (typeof timeout !== "number") {
    throw new TypeError(`cannot ${what}: expected timeout in milliseconds, got ${describeValue(timeout)}`);
  }
  if (!(timeout >= 0 && timeout <= MAX_TIMER_MS)) {
    throw new RangeError(`cannot ${what}: expected timeout in milliseconds, 0 to ${MAX_TIMER_MS}, got ${timeout}`);
  }
  return Math.ceil(timeout);
}

async function find(what: string, name: string, hosts: readonly AttachedHost[], timeout: number): Promise<Found> {
  const answers = await Promise.all(hosts.map((host) => host.ask((agent) => agent.findPublication.callOne(name, 0))));
  const [found, ...others] = answers.flatMap(({ publication }, i) =>
    publication === undefined ? [] : [{ host: hosts[i]!, publication }],
  );
  if (found !== undefined) {
    const other = others.find(({ publication: { id } }) => id !== found.publication.id);
    if (other === undefined) return found;
    const places = [found, other].map(({ publication, host }) => `${publication.publisher} at host ${host.address}`);
    throw new Error(`cannot ${what}: two programs have published a mesh by this name: ${places.join(", and ")}`);
  }
  if (timeout > 0) return waitFor(what, name, hosts, timeout);
  const names = [...new Set(answers.flatMap((answer) => answer.names))].sort();
  const published =
    names.length === 0 ? "nothing is" : `published are ${names.map((each) => JSON.stringify(each)).join(", ")}`;
  throw new Error(`cannot ${what}: no program has published a mesh by this name on ${hostList(hosts)}; ${published}`);
}

/** Waits until one of the hosts has a mesh by the name. */
async function waitFor(what: string, name: string, hosts: readonly AttachedHost[], timeout: number): Promise<Found> {
  const left = new AbortController();
  const { signal } = left;
  const asked = hosts.map(async (host): Promise<Found> => {
    const answer: FoundPublication = await host.ask((agent) =>
      agent.findPublication.with({ signal }).callOne(name, timeout),
    );
    if (answer.publication !== undefined) return { host, publication: answer.publication };
    throw new TimeoutError(
      `cannot ${what}: no program has published a mesh by this name on ${hostList(hosts)} within ${timeout} ms`,
    );
  });
  try {
    return await Promise.any(asked);
  } catch (error) {
    throw (error as AggregateError).errors[0];
  } finally {
    left.abort();
  }
}

function hostList(hosts: readonly AttachedHost[]): string {
  return `${hosts.length === 1 ? "host" : "hosts"} ${hosts.map(({ address }) => address).join(", ")}`;
}

/**
 * @param wanted the interface that the caller has named
 * @throws Error if this program does not know the interface of the mesh, expects another one, or knows it by an
 *   incompatible schema
 */
function compatibleInterface(
  what: string,
  publication: Publication,
  wanted: ActorDescriptor | undefined,
): ActorDescriptor {
  const { key, name, fingerprint, publisher } = publication;
  if (wanted !== undefined && wanted.key !== key) {
    throw new Error(`cannot ${what}: expected a mesh of ${wanted.key}, got a mesh of ${key}`);
  }
  const descriptor = wanted ?? loadedInterface(key, fingerprint);
  if (descriptor === undefined) {
    const file = key.slice(key.lastIndexOf("/") + 1, key.lastIndexOf("#"));
    const actorClass = `${key.slice(key.lastIndexOf("#") + 1)}Actor`;
    throw new Error(
      `cannot ${what}: it is a mesh of ${key}, and this program has not loaded the generated module of that interface; ` +
        `import ${actorClass} from "./generated/${file}.js", and call lookup(${JSON.stringify(name)}, ${actorClass})`,
    );
  }
  const apart = fingerprint === descriptor.fingerprint ? undefined : schemaDifferences(descriptor, publication);
  if (apart !== undefined) throw new Error(`cannot ${what}: ${publisher} ${apart}`);
  return descriptor;
}
