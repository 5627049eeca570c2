/** Lists the detached actors on hosts, for code outside of contexts. */
import { type DetachedActor, DetachedActorsActor, type DetachedActorsMesh } from "../../../generated/tasks.js";
import type { HostMesh } from "../../index.js";
import { attachmentOf, daemonsOf, findOnHosts } from "../kernel.js";
import { keeperName } from "./keeper-name.js";

/** A detached actor, as {@link detachedActors} returns it. */
export interface DetachedActorInfo {
  /** The name by which contexts and `lookup` find the actor. */
  readonly name: string;
  /** The id of its class: the package, the module and the export, as in `shop/src/cart#MemoryCart`. */
  readonly classId: string;
  /** The rank of its host in the mesh of hosts, from 0. Undefined: the host is not in this mesh. */
  readonly host: number | undefined;
  /** The number of processes that the actor has had before this one, by restarts and by `maxCalls`. */
  readonly incarnation: number;
  /** Whether the actor lives, or is being created again after a failure. */
  readonly state: "living" | "restarting";
  /** The time of the request for the actor, in milliseconds since 1970. */
  readonly since: number;
}

/**
 * Returns the detached actors that live on the hosts of a job, of all programs and contexts, in the order of their creation.
 *
 * @example
 * ```ts
 * import { ProcessJob } from "viceroy/job";
 * import { detachedActors } from "viceroy/tasks";
 *
 * const job = new ProcessJob({ meshes: { workers: { hosts: 2 } } });
 * const { workers } = await job.state();
 * for (const { name, host, incarnation } of await detachedActors(workers)) console.log(name, host, incarnation);
 * ```
 *
 * @param hosts a mesh of hosts of a job, or of attached hosts
 * @returns no actors for a mesh of this machine, whose processes all end with the program
 * @throws {Error} as a rejection, when the controller of the actors has an incompatible version
 * @throws {SupervisionError} as a rejection, when the controller ends before it has answered
 */
export async function detachedActors(hosts: HostMesh): Promise<DetachedActorInfo[]> {
  if (attachmentOf(hosts) === undefined) return [];
  const { descriptor } = DetachedActorsActor;
  const keeper = await findOnHosts(hosts, "cannot list detached actors", keeperName, descriptor);
  if (keeper === undefined) return [];
  const [actors, daemons] = await Promise.all([(keeper as DetachedActorsMesh<never>).list.callOne(), daemonsOf(hosts)]);
  return actors.map((actor) => infoOf(actor, daemons));
}

function infoOf(actor: DetachedActor, daemons: readonly bigint[]): DetachedActorInfo {
  const { name, classId, since, incarnation = 0, isRestarting = false } = actor;
  const host = daemons.indexOf(actor.host);
  return {
    ...{ name, classId, incarnation, since },
    host: host < 0 ? undefined : host,
    state: isRestarting ? "restarting" : "living",
  };
}
