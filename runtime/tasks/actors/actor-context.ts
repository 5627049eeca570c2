/** The context of an actor in the process that asks for it, and the handles that this process makes. */
import type { ActorFound, TaskRootMesh } from "../../../generated/tasks.js";
import { type ActorMesh, codec, type MeshStopOptions, type SpawnableClass } from "../../index.js";
import { type ActorClass, currentRuntime } from "../kernel.js";
import { type ActorHandle, makeActorHandle } from "./actor-handle.js";
import type { RefMaker } from "./ref-maker.js";

/** The context, in the process that asks for an actor. */
export interface ActorContext {
  readonly root: TaskRootMesh<never>;
  readonly refs: RefMaker;
  /** Loads the generated registries of the program. */
  readonly loadRegistries: () => Promise<void>;
}

/** The time in milliseconds in which an actor that is stopped still handles messages. */
const defaultDrain = 5000;

/** Returns the handle of an actor that the root has created or found. */
export function handleOf<C extends SpawnableClass>(
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
export async function descriptorOf({ loadRegistries }: ActorContext, actorClass: ActorClass) {
  const { classes } = currentRuntime().platform;
  try {
    return classes.descriptorOf(actorClass);
  } catch (error) {
    if (error instanceof TypeError) throw error;
    await loadRegistries();
    return classes.descriptorOf(actorClass);
  }
}
