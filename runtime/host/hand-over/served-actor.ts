/** An actor that a controller serves: it lives in the process of the controller, and spawns meshes on the hosts. */
import type { ActorMesh } from "../../actor/mesh/actor-mesh.js";
import { programRuntime } from "../../proc/process/current-runtime.js";
import { HostMesh, thisProc } from "../mesh/host-mesh.js";
import { publish } from "../publish/publish.js";
import { setControllerRuntime } from "./controller-end.js";
import type { ServeOrder } from "./serve-order.js";
import { attachHandedHosts } from "./take-over.js";

let attached: HostMesh<"hosts"> | undefined;

/** Returns the hosts of this controller, all of which it has attached. */
export function servedHosts(): HostMesh<"hosts"> {
  if (attached !== undefined) return attached;
  throw new Error("this process is no controller that serves an actor");
}

/** Attaches the hosts, spawns the actor in this process, and publishes it. */
export async function serveActor({ name, hosts, loader, actor, args }: ServeOrder): Promise<void> {
  const runtime = programRuntime();
  setControllerRuntime(runtime);
  const { platform } = runtime;
  if (loader !== undefined) await platform.useLoader(loader);
  if (hosts.registry !== undefined) await platform.importModule(hosts.registry);
  runtime.unhandledFaults.replaceHook((failure) => platform.print(`viceroy controller: ${failure.report()}\n`));
  const attachment = attachHandedHosts(runtime, hosts);
  attached = new HostMesh(runtime, attachment.members.region, { attachment, ready: attachment.ready });
  const [actorClass] = await Promise.all([platform.classes.find(actor), attachment.ready]);
  const given = actorClass.descriptor.args.decode(args);
  const mesh: ActorMesh = thisProc().spawn(name, actorClass as never, ...(given as never));
  await mesh.ready;
  await publish(name, mesh);
}
