/** The request to spawn the actors of a mesh. Replacements and joining actors are created from it, too. */
import type { ActorClass, WatchLimits } from "../../actor/reference/actor-request.js";
import type { RestartPlan } from "../../supervise/restart-policy.js";
import type { ActorDescriptor } from "../../wire/descriptor.js";

/** The option of `ProcMesh.with` for `SpawnPlan.maxCalls`. It is a symbol because it is no option of programs. */
export const callLimit: unique symbol = Symbol("number of messages after which the process of an actor is replaced");

/** A spawn request with checked and encoded arguments. */
export interface SpawnPlan {
  readonly actorClass: ActorClass;
  readonly descriptor: ActorDescriptor;
  /** The constructor arguments, a message of `descriptor.args`. */
  readonly args: Uint8Array;
  /** Whether `args` are in the protobuf layout, because the lockstep layout cannot express them. */
  readonly protobuf: boolean;
  /** The restart policy of the mesh; undefined selects the policy of the processes on which it lives. */
  readonly restart?: RestartPlan | undefined;
  /** Time limits of its handlers; undefined means no limits. */
  readonly watch?: WatchLimits | undefined;
  /** The number of messages after which the process of an actor is replaced; undefined means no limit. */
  readonly maxCalls?: number | undefined;
}
