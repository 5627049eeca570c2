/** `publish`: makes a mesh known by a name to the other programs that have attached the same hosts. */
import { hostname } from "node:os";
import type { Publication } from "../../../generated/published.js";
import { describeValue } from "../../../shared/text/describe-value.js";
import { errorMessage } from "../../../shared/text/error-message.js";
import { ActorMesh, viewOf } from "../../actor/mesh/actor-mesh.js";
import { reasonSuffix } from "../../actor/reference/mesh-record.js";
import { schemaForPeer } from "../../actor/schema/compare-schemas.js";
import { currentRuntime } from "../../proc/process/current-runtime.js";
import { checkPublicationName, readyHosts } from "./check-name.js";
import { type ProgramPublications, publicationsOf } from "./program-publications.js";
import { dimensionsOf } from "./received-messages.js";

let createPublished: (name: string, id: bigint, publications: ProgramPublications) => PublishedMesh;

/** A mesh that {@link publish} has published. */
export class PublishedMesh {
  /** The name that other programs look up. */
  readonly name: string;
  readonly #id: bigint;
  readonly #publications: ProgramPublications;

  static {
    createPublished = (name, id, publications) => new PublishedMesh(name, id, publications);
  }

  private constructor(name: string, id: bigint, publications: ProgramPublications) {
    this.name = name;
    this.#id = id;
    this.#publications = publications;
  }

  /**
   * Withdraws the mesh: calls of other programs reject with SupervisionError from then on, and the name can be used
   * again. The mesh itself goes on. Withdrawing it again has no effect.
   *
   * @returns a promise that resolves when all hosts have been told; it never rejects
   */
  unpublish(): Promise<void> {
    return this.#publications.remove(
      this.#id,
      `its program has withdrawn the mesh that it had published as "${this.name}"`,
    );
  }

  /** Withdraws the mesh at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.unpublish();
  }
}

/**
 * Publishes a mesh on all hosts that this program has attached, so that other programs that attach one of these hosts
 * find it by {@link lookup}. Of a mesh that has been resized, the ranks of the given handle are published. The mesh stays published until it is withdrawn or stopped, or this program ends or leaves
 * the hosts.
 *
 * @example
 * ```ts
 * import { type ActorMesh, attachHosts, publish } from "viceroy";
 *
 * declare const index: ActorMesh;
 * await using hosts = attachHosts(["tcp://node1:26600"]);
 * await using published = await publish("index", index);
 * ```
 *
 * @param name a text of 1 to 255 bytes of UTF-8, unique on each host
 * @param mesh a whole mesh that was spawned in this process
 * @returns a handle that withdraws the mesh, when all hosts know the mesh
 * @throws {TypeError} as a rejection, when the name is no text, or the mesh is no mesh of actors
 * @throws {RangeError} as a rejection, when the name is empty or too long
 * @throws {Error} as a rejection, when the mesh is a slice, was stopped or was spawned elsewhere, no host is attached or
 *   one cannot be reached, or another mesh has the name
 */
export async function publish(name: string, mesh: ActorMesh): Promise<PublishedMesh> {
  checkPublicationName("publish a mesh", name);
  const what = `publish ${JSON.stringify(name)}`;
  checkMesh(what, mesh);
  const runtime = currentRuntime();
  const hosts = await readyHosts(what, runtime);
  const { record, descriptor, extent } = viewOf(mesh);
  const { fingerprint, description } = schemaForPeer(descriptor);
  const id = runtime.platform.random.id();
  const publication: Publication = {
    id,
    name,
    key: descriptor.key,
    fingerprint,
    description,
    extent: dimensionsOf(extent),
    publisher: `process ${runtime.platform.pid} on ${hostname()}`,
  };
  const publications = publicationsOf(runtime);
  publications.add(publication, mesh, hosts);
  const told = await Promise.allSettled(hosts.map((host) => host.ask((agent) => agent.publish.callOne(publication))));
  for (const [i, outcome] of told.entries()) {
    if (outcome.status === "fulfilled") continue;
    await publications.remove(id, "it was not published on all hosts");
    const { reason: cause } = outcome;
    throw new Error(`cannot ${what} on host ${hosts[i]!.address}: ${errorMessage(cause)}`, { cause });
  }
  // The mesh may have been stopped in the meantime.
  if (record.stopReason !== undefined) await publications.remove(id, "its mesh was stopped");
  checkMesh(what, mesh);
  return createPublished(name, id, publications);
}

/** @throws {TypeError, Error} unless the mesh can be published from here */
function checkMesh(what: string, mesh: unknown): void {
  if (!(mesh instanceof ActorMesh)) {
    throw new TypeError(`cannot ${what}: expected a mesh of actors, got ${describeValue(mesh)}`);
  }
  const { record, region } = viewOf(mesh);
  if (record.control === undefined) {
    throw new Error(`cannot ${what}: another process has spawned mesh "${record.name}"; publish it in that process`);
  }
  if (!record.control.isWhole(region)) {
    throw new Error(
      `cannot ${what}: ${mesh} is a slice of mesh "${record.name}"; publish the whole mesh, and slice it where it is looked up`,
    );
  }
  if (record.stopReason !== undefined) {
    throw new Error(`cannot ${what}: mesh "${record.name}" was stopped${reasonSuffix(record.stopReason)}`);
  }
}
