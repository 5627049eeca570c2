/**
 * The context of running code as users see it: its message, its actor and its proc. Types only. The function
 * `context()` is in context.ts.
 */
import type { ActorId } from "../../link/address.js";
import type { Extent, Point } from "../../shape/index.js";

/** The actor that the running code belongs to. */
export interface ActorContext {
  /** Identifies one incarnation of the actor, in all processes of the program. */
  readonly id: ActorId;
  /** The name that was given to `spawn`. */
  readonly name: string;
  /** The position of the actor in the mesh that was spawned, never in a slice of it. */
  readonly rank: Point;
}

/** The proc that the actor lives in. */
export interface ProcContext {
  /** The id of the proc: 16 hexadecimal digits. */
  readonly id: string;
  /**
   * The rank of the proc in the mesh of procs that was spawned, from 0, never in a slice of it. The main proc of a
   * program has rank 0.
   */
  readonly rank: number;
}

/** The actor that sent the current message. */
export interface CallerContext {
  /** Identifies one incarnation of the sender. */
  readonly id: ActorId;
  /** The name of the sender's mesh. */
  readonly name: string;
}

/** A position in a distributed trace, as W3C Trace Context defines it. */
export interface Trace {
  /** The trace id: 32 hexadecimal digits, the same for all messages that follow from one another. */
  readonly id: string;
  /** The id of the handling of this message: 16 hexadecimal digits. */
  readonly spanId: string;
  /** The id of the span that sent the message: 16 hexadecimal digits. Absent if the trace starts with this message. */
  readonly parentId?: string;
  /** The value of the header `traceparent` for this position. */
  readonly traceparent: string;
}

/** Describes the running code: its message, its actor and its proc. See {@link context}. */
export interface Context {
  /**
   * The position of this actor in the mesh or slice that the message was sent to.
   *
   * @throws {Error} outside a handler
   */
  readonly rank: Point;
  /**
   * The extent of the mesh or slice that the message was sent to.
   *
   * @throws {Error} outside a handler
   */
  readonly extent: Extent;
  /** The actor that the running code belongs to. Outside actors, it is the root actor of the program. */
  readonly actor: ActorContext;
  /** The proc that the running code belongs to. */
  readonly proc: ProcContext;
  /**
   * The key that this actor was chosen by. Undefined if the sender did not use `byKey`.
   *
   * @throws {Error} outside a handler
   */
  readonly key: string | undefined;
  /**
   * Aborted when the caller no longer waits for the answer: its timeout has passed, it cancelled the call, or it has
   * ended.
   *
   * @throws {Error} outside a handler
   */
  readonly signal: AbortSignal;
  /**
   * The sender of the message.
   *
   * @throws {Error} outside a handler
   */
  readonly caller: CallerContext;
  /**
   * The position of this message in its trace.
   *
   * @throws {Error} outside a handler
   */
  readonly trace: Trace;
}
