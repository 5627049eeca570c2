/** Creates and finds actors, for code that belongs to a context: the program, or a task. */
import type { ActorFound, ActorOrder, ActorRequest, TaskRootMesh } from "../../../generated/tasks.js";
import { arityError } from "../../../shared/text/arity-error.js";
import { type ActorMesh, type ArgsOf, codec, type MeshStopOptions, type SpawnableClass } from "../../index.js";
import { type ActorClass, currentRuntime } from "../kernel.js";
import { type ActorHandle, makeActorHandle } from "./actor-handle.js";
import { checkClass } from "./actor-names.js";
import { checkActorName, type OwnActorOptions, planActor } from "./actor-options.js";
import { errorOfRequest } from "./creation-errors.js";
import type { RefMaker } from "./ref-maker.js";

/** The context, in the process that asks for an actor. */
export interface ActorContext {
  readonly root: TaskRootMesh<never>;
  readonly refs: RefMaker;
  /** Loads the generated registries of the program. */
  readonly loadRegistries: () => Promise<void>;
}

/** What an actor needs of its host, from the options that tasks have, too. */
export type ActorNeeds = Pick<ActorOrder, "resources" | "environment" | "group" | "bundle"> & {
  /** The index of the host; absent: any host. */
  readonly host?: number;
};

/** The time in milliseconds in which an actor that is stopped still handles messages. */
const defaultDrain = 5000;

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

function handleOf<C extends SpawnableClass>(
  { root, refs }: ActorContext,
  { descriptor }: C,
  registry: string,
  { id, classId, placed }: ActorFound,
  maxConcurrency: number,
): ActorHandle<C> {
  const mesh = codec.mesh<ActorMesh>(() => descriptor).decode(placed.mesh);
  const stop = async ({ reason = "stopped", drain = defaultDrain }: MeshStopOptions): Promise<void> => {
    // An actor whose context has ended has ended, too.
    await root.endActor.callOne(id, reason, drain).then(undefined, () => {});
  };
  const handle: unknown = makeActorHandle(mesh, { refs, registry, classId, stop, maxConcurrency });
  return handle as ActorHandle<C>;
}

/** Returns the descriptor of a class of actors. The module of a task need not import the registry of the class. */
async function descriptorOf({ loadRegistries }: ActorContext, actorClass: ActorClass) {
  const { classes } = currentRuntime().platform;
  try {
    return classes.descriptorOf(actorClass);
  } catch (error) {
    if (error instanceof TypeError) throw error;
    await loadRegistries();
    return classes.descriptorOf(actorClass);
  }
}

function classNameOf(actorClass: SpawnableClass): string {
  return (actorClass as { readonly name?: string }).name ?? String(actorClass);
}
