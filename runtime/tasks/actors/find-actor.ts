/** Finds and stops actors by their names, for code that belongs to a context: the program, or a task. */
import type { SpawnableClass } from "../../index.js";
import { type ActorClass, currentRuntime } from "../kernel.js";
import { type ActorContext, descriptorOf, handleOf } from "./actor-context.js";
import type { ActorHandle } from "./actor-handle.js";
import { checkClass } from "./actor-names.js";
import { checkActorName } from "./actor-options.js";
import { errorOfRequest } from "./creation-errors.js";

/**
 * Returns the actor with a name; undefined if there is none. Waits while the actor is being created.
 *
 * @throws TypeError, RangeError for the name; TypeError as a rejection, if the actor is of another class
 */
export async function findActor<C extends SpawnableClass>(
  context: ActorContext,
  actorClass: C,
  name: string,
): Promise<ActorHandle<C> | undefined> {
  checkActorName("cannot get an actor", name);
  const { classes } = currentRuntime().platform;
  await descriptorOf(context, actorClass as unknown as ActorClass);
  const { registry, id } = await classes.resolve(actorClass as unknown as ActorClass);
  const found = await context.root.findActor.callOne(name).then(undefined, (error: unknown) => {
    throw errorOfRequest(name, error);
  });
  if (found === null) return undefined;
  checkClass(name, found.classId, id);
  return handleOf(context, actorClass, registry, found, Number.POSITIVE_INFINITY);
}

/** Stops the actor with a name. Returns false if there is none. */
export async function stopActorByName(context: ActorContext, name: string): Promise<boolean> {
  checkActorName("cannot stop an actor", name);
  return context.root.stopActor.callOne(name).then(undefined, (error: unknown) => {
    throw errorOfRequest(name, error);
  });
}
