/** Creates actors, for code that belongs to a context: the program, or a task. */
import type { ActorOrder, ActorRequest } from "../../../generated/tasks.js";
import { arityError } from "../../../shared/text/arity-error.js";
import type { ArgsOf, SpawnableClass } from "../../index.js";
import { type ActorClass, currentRuntime } from "../kernel.js";
import { type ActorContext, descriptorOf, handleOf } from "./actor-context.js";
import type { ActorHandle } from "./actor-handle.js";
import { type OwnActorOptions, planActor } from "./actor-options.js";
import { errorOfRequest } from "./creation-errors.js";

/** The needs of an actor on its host, from the options that tasks have, too. */
export type ActorNeeds = Pick<ActorOrder, "resources" | "environment" | "group" | "bundle"> & {
  /** The index of the host; absent: any host. */
  readonly host?: number;
};

/**
 * Creates an actor, or finds the one that has the name. Resolves when the constructor and `init` have run.
 *
 * @throws TypeError, RangeError for options; CodecError for arguments; nothing has been asked for then
 */
export async function createActor<C extends SpawnableClass>(
  context: ActorContext,
  actorClass: C,
  args: ArgsOf<C>,
  options: OwnActorOptions,
  needs: () => Promise<ActorNeeds>,
): Promise<ActorHandle<C>> {
  const { name, getIfExists, isDetached, restarts, maxConcurrency, maxCalls } = planActor(
    `cannot create actor ${classNameOf(actorClass)}`,
    options,
  );
  const descriptor = await descriptorOf(context, actorClass as unknown as ActorClass);
  const { minArgs, maxArgs } = descriptor;
  const given = args as readonly unknown[];
  const label = name ?? classNameOf(actorClass);
  if (given.length < minArgs || given.length > maxArgs) {
    throw arityError(`the constructor of ${classNameOf(actorClass)}`, minArgs, maxArgs, given.length);
  }
  const encoded = descriptor.args.encode(given);
  const [reference, { host, ...needed }] = await Promise.all([
    currentRuntime().platform.classes.resolve(actorClass as unknown as ActorClass),
    needs(),
  ]);
  const order: ActorOrder = {
    id: 0n,
    label,
    registry: reference.registry,
    classId: reference.id,
    args: encoded,
    restarts,
    ...needed,
  };
  const request: ActorRequest = { getIfExists, order };
  if (name !== undefined) request.name = name;
  if (host !== undefined) request.host = host;
  if (isDetached) request.detached = true;
  if (maxCalls !== undefined) order.maxCalls = maxCalls;
  const found = await context.root.actor.callOne(request).then(undefined, (error: unknown) => {
    throw errorOfRequest(label, error);
  });
  return handleOf(context, actorClass, reference.registry, found, maxConcurrency);
}

function classNameOf(actorClass: SpawnableClass): string {
  return (actorClass as { readonly name?: string }).name ?? String(actorClass);
}
