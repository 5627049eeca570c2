/** Has the hosts serve an actor that outlives this program, and finds it there. */
import { errorMessage } from "../../../shared/text/error-message.js";
import type { ActorMesh } from "../../actor/mesh/actor-mesh.js";
import { schemaDifferences } from "../../actor/schema/compare-schemas.js";
import { currentRuntime } from "../../proc/process/current-runtime.js";
import { baseRanks } from "../../shape/index.js";
import type { ActorDescriptor } from "../../wire/descriptor.js";
import type { AttachedHosts } from "../attached/attached-hosts.js";
import { attachmentOf, type HostMesh, hostRegionOf } from "../mesh/host-mesh.js";
import { publicationsOf } from "../publish/program-publications.js";
import { controllerLoader, describeHosts } from "./describe-hand-over.js";
import { encodeServeOrder, type ServeOrder } from "./serve-order.js";

/** The actor, and how the controller creates it. */
export type ServedActor = Pick<ServeOrder, "name" | "actor" | "args">;

/** Returns the random ids of the daemons of attached hosts, in rank order. They are the same for all drivers. */
export async function daemonsOf(mesh: HostMesh): Promise<bigint[]> {
  const attachment = await readyHostsOf(mesh);
  return Array.from(baseRanks(hostRegionOf(mesh)), (number) => attachment.hostAt(number).daemon!);
}

/**
 * Returns the mesh that another program has published by a name on attached hosts; undefined if there is none.
 *
 * @param what the start of error messages: `cannot find actor "tally"`
 * @throws Error if the mesh has another interface, or the schemas are incompatible; also rethrows errors of the hosts
 */
export async function findOnHosts(
  mesh: HostMesh,
  what: string,
  name: string,
  descriptor: ActorDescriptor,
): Promise<ActorMesh | undefined> {
  const { hosts } = await readyHostsOf(mesh);
  for (const host of hosts.filter(({ isLost }) => !isLost)) {
    const found = await host
      .ask((agent) => agent.findPublication.callOne(name, 0))
      .then(undefined, (error) => {
        if (!host.isLost) throw error;
      });
    const publication = found?.publication;
    if (publication === undefined) continue;
    if (publication.key !== descriptor.key) {
      throw new Error(`${what}: expected a mesh of ${descriptor.key}, got a mesh of ${publication.key}`);
    }
    const isSame = publication.fingerprint === descriptor.fingerprint;
    const apart = isSame ? undefined : schemaDifferences(descriptor, publication);
    if (apart !== undefined) throw new Error(`${what}: ${publication.publisher} ${apart}`);
    return publicationsOf(currentRuntime()).meshOf(publication, host, descriptor);
  }
  return undefined;
}

/**
 * Has a controller on the first of attached hosts serve an actor, unless it does already. Resolves when it is published.
 *
 * @param mesh attached hosts, all of which the controller attaches
 * @throws Error with the reason why no controller can outlive this program, or why it did not start
 */
export async function serveOnHosts(mesh: HostMesh, served: ServedActor): Promise<void> {
  const attachment = await readyHostsOf(mesh);
  const tls = await attachment.controllerFiles?.();
  if (attachment.controllerFiles === undefined && attachment.access.proof.tls !== undefined) {
    throw new Error("its hosts need certificates and belong to no job, which would give one to a controller");
  }
  const loader = controllerLoader(currentRuntime());
  // The hosts print what their processes print.
  const hosts = { ...describeHosts(attachment, tls), isSameLog: true };
  const order = encodeServeOrder({ ...served, hosts, ...(loader === undefined ? {} : { loader }) });
  const [first] = attachment.hosts;
  await first!
    .ask((agent) => agent.serve.callOne(served.name, order))
    .then(undefined, (cause) => {
      throw new Error(`its controller cannot start on host ${first!.address}: ${errorMessage(cause)}`, { cause });
    });
}

async function readyHostsOf(mesh: HostMesh): Promise<AttachedHosts> {
  const attachment = attachmentOf(mesh)!;
  await attachment.ready;
  return attachment;
}
