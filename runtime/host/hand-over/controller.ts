/**
 * A controller: the process on a host that owns what outlives a driver. The daemon of the host starts it, and sends it
 * either two orders, to take over what a driver has handed over, or one, to serve an actor that spawns meshes itself. It ends
 * with the daemon, with the last of the meshes that it has taken over, when the actor that it serves ends it, and when a
 * host ends it by a signal.
 */
import { errorMessage } from "../../../shared/text/error-message.js";
import { makeNodePlatform } from "../../proc/platform/node-platform.js";
import { placesVariable } from "../../proc/platform/program-places.js";
import { startSuccessorRuntime } from "../../proc/process/current-runtime.js";
import { ProcessRuntime } from "../../proc/process/process-runtime.js";
import { endController, setControllerRuntime } from "./controller-end.js";
import type { ControllerAnswer, ControllerOrder } from "./controller-messages.js";
import { decodeHandOver, type HandOver } from "./hand-over.js";
import { decodeServeOrder } from "./serve-order.js";
import { serveActor } from "./served-actor.js";
import { attachHandedHosts, type HandedClasses, takeOver } from "./take-over.js";

interface Prepared {
  readonly runtime: ProcessRuntime;
  readonly classes: HandedClasses;
}

/** Executes the orders of the daemon until it ends. */
export function runController(): void {
  let prepared: Prepared | undefined;
  const answer = (said: ControllerAnswer) => process.send?.(said);
  process.once("disconnect", () => void endController("its host has ended"));
  process.on("message", ({ prepare: first, takeOver: second, serve }: ControllerOrder) => {
    const run = async () => {
      if (serve !== undefined) await serveActor(decodeServeOrder(serve));
      if (first !== undefined) prepared = await prepare(decodeHandOver(first));
      if (second === undefined) return;
      const { runtime, classes } = prepared!;
      superviseMeshes(runtime);
      await takeOver(runtime, decodeHandOver(second), classes);
    };
    run().then(
      () => answer({}),
      (error) => answer({ failed: errorMessage(error) }),
    );
  });
}

/** Loads the program, and checks that the hosts accept this process. */
async function prepare(state: HandOver): Promise<Prepared> {
  useCodeOf(state);
  const runtime = startSuccessorRuntime({ universe: state.universe, id: state.driver });
  setControllerRuntime(runtime);
  const { platform } = runtime;
  const configs = state.procs.flatMap(({ procs }) => procs.map(({ config }) => config));
  const loaders = new Set(configs.flatMap(({ loader }) => loader ?? []));
  // Processes that were started with options for TypeScript have no loader.
  if (loaders.size === 0 && state.loader !== undefined) loaders.add(state.loader);
  for (const loader of loaders) await platform.useLoader(loader);
  for (const registry of new Set(configs.map((config) => config.registry))) {
    if (registry !== undefined) await platform.importModule(registry);
  }
  const classes = await Promise.all(
    state.actors.map(async ({ name, actor, fingerprint }) => {
      const actorClass = await platform.classes.find(actor);
      if (actorClass.descriptor.fingerprint === fingerprint) return actorClass;
      throw new Error(`mesh "${name}" has another schema on this host than in the driver; deploy the same build`);
    }),
  );
  await checkHosts(state);
  return { runtime, classes };
}

/** Loads the program from where its processes on this host, the first one, load it. */
function useCodeOf({ procs }: HandOver): void {
  const own = procs.flatMap((mesh) => mesh.procs).find(({ group, host }) => group === 0 && host === 0);
  const places = own?.env[placesVariable];
  if (typeof places === "string") process.env[placesVariable] = places;
}

/** Attaches all hosts under another identity, and leaves them again. Rejects if one does not accept this process. */
async function checkHosts(state: HandOver): Promise<void> {
  const probe = new ProcessRuntime(makeNodePlatform(), undefined, () => {});
  const groups = state.hosts.map((hosts) => attachHandedHosts(probe, hosts));
  try {
    await Promise.all(groups.map(({ ready }) => ready));
  } finally {
    await Promise.all(groups.map((group) => group.stop({ reason: "it was a check", drain: 0 })));
  }
}

/** Reports failures that no restart policy answers, and ends this process when no actor lives any more. */
function superviseMeshes(runtime: ProcessRuntime): void {
  runtime.unhandledFaults.replaceHook((failure) => {
    runtime.platform.print(`viceroy controller: ${failure.report()}\n`);
    const isLiving = [...runtime.spawnedActors.values()].some((mesh) => !mesh.isOver);
    if (!isLiving) void endController("all its meshes have ended");
  });
}
