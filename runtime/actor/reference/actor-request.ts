/** The request to create an actor in a proc. */
import type { MeshId, ProcId } from "../../link/address.js";
import type { ActorDescriptor } from "../../wire/descriptor.js";
import type { Actor } from "../actor.js";
import type { SavedState } from "./saved-state.js";

/** The class of an actor, as given to `spawn`. */
export interface ActorClass<Args extends readonly never[] = readonly never[]> {
  new (...args: Args): Actor;
  readonly descriptor: ActorDescriptor;
}

/** The time limits of handlers, in milliseconds. */
export interface WatchLimits {
  /** The time after which the process warns of a running handler. The `@timeout` of an endpoint replaces it. */
  readonly warn: number;
  /** The time between the warning and the failure of the actor. Infinity: the actor never fails for this reason. */
  readonly grace: number;
}

/** The arguments of `proc.createActor`. */
export interface ActorRequest {
  readonly mesh: MeshId;
  /** The number of the actor in its mesh, by which it is addressed. */
  readonly rank: number;
  /** The rank in `extent`, if it differs from `rank`, because the actor was added when the mesh was resized. */
  readonly position?: number | undefined;
  readonly incarnation: number;
  /** The name that was given to `spawn`: `spawn("counters", …)`. */
  readonly name: string;
  /** The sizes of the mesh when the actor was added to it, in the order of its dimensions. */
  readonly extent: Readonly<Record<string, number>>;
  /** The proc whose actor spawned the mesh. It answers questions about the mesh. */
  readonly owner: ProcId;
  /** The time limits of handlers. Undefined: there are none. */
  readonly watch?: WatchLimits | undefined;
  readonly descriptor: ActorDescriptor;
  readonly actorClass: ActorClass;
  /** The decoded constructor arguments. They are used once. */
  readonly args: readonly unknown[];
  /** The state that the actor begins with, after its constructor. It is used once. */
  readonly saved?: SavedState | undefined;
  /** Whether the state is saved once more when the actor is stopped in order. */
  readonly savesAtStop?: boolean | undefined;
  /** The number of messages after which the process of the actor is replaced. Undefined: there is no limit. */
  readonly maxCalls?: number | undefined;
}

/** The request without what is used once. The root of a proc has neither a class nor a descriptor. */
export type ActorSpec = Omit<ActorRequest, "args" | "saved" | "actorClass" | "descriptor"> &
  Partial<Pick<ActorRequest, "actorClass" | "descriptor">>;
