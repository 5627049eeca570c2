/**
 * `context()`: describes the message that the running code handles and the actor that the code belongs to. The current
 * turn is a module-level variable while a handler runs synchronously. An AsyncLocalStorage carries the turn across
 * awaits.
 *
 * The storage is created when the first actor of the user runs in this process. From then on every promise costs more
 * (60 ns on Node 20), so a program that only calls actors in other processes never pays this cost.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { type ActorId, AGENT_MESH } from "../link/address.js";
import type { Clock } from "../link/clock.js";
import { emptyChain } from "../link/frame/message-extension.js";
import type { Extent, Point } from "../shape/index.js";
import type { ActorCell } from "./cell/actor-cell.js";
import type { OutstandingCall, Turn } from "./cell/turn.js";

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

/**
 * The turn of code that runs outside of messages: the program's root, and `init`, `supervise` and `cleanup` of an
 * actor.
 */
export class NoMessageTurn implements Context {
  readonly cell: ActorCell;
  /**
   * The call chain of this turn. In `init` it holds the actor itself, because the actor takes no messages meanwhile.
   */
  readonly chain: readonly number[];
  /** Undefined: without a message there is no trace, so each message sent from here starts one. */
  readonly span = undefined;
  /** Always 0: no caller waits for an answer. */
  readonly timeLeft = 0;
  readonly isEnded = false;

  constructor(cell: ActorCell, chain: readonly number[] = emptyChain) {
    this.cell = cell;
    this.chain = chain;
  }

  /** Does nothing: no caller's timeout or cancellation ends the calls that are made here. */
  addOutstanding(_call: OutstandingCall): void {}

  get rank(): Point {
    return refuseOutsideHandler("rank");
  }

  get extent(): Extent {
    return refuseOutsideHandler("extent");
  }

  get actor(): ActorContext {
    return this.cell.context;
  }

  get proc(): ProcContext {
    return this.cell.proc.context;
  }

  get signal(): AbortSignal {
    return refuseOutsideHandler("signal");
  }

  get caller(): CallerContext {
    return refuseOutsideHandler("caller");
  }

  get trace(): Trace {
    return refuseOutsideHandler("trace");
  }
}

/**
 * The turn of code that runs because a module of actors is being loaded, and of the code that the module leaves
 * running.
 */
export class ModuleLoadingTurn extends NoMessageTurn {}

function refuseOutsideHandler(what: string): never {
  throw new Error(`cannot read context().${what}: expected a handler of a message, got code outside of one`);
}

export type AnyTurn = Turn | NoMessageTurn;

let synchronousTurn: AnyTurn | undefined;
let storage: AsyncLocalStorage<AnyTurn> | undefined;
let mainRootOrFactory: ActorCell | (() => ActorCell) | undefined;

/** Returns the turn that the running code belongs to, or undefined outside of actors. */
export function currentTurn(): AnyTurn | undefined {
  return synchronousTurn ?? storage?.getStore();
}

/**
 * Returns the actor that the running code belongs to. It is the sender of all messages that this code sends.
 * @throws {Error} before a runtime has started
 */
export function currentCell(): ActorCell {
  return currentTurn()?.cell ?? mainRoot();
}

/**
 * Runs `body`, and the continuations of its awaits, as code of `turn`. All turns share one function `body`, which finds
 * its turn by `runningTurn`.
 */
export function runInTurn(turn: AnyTurn, body: () => unknown): unknown {
  if (storage === undefined && needsAsyncStorage(turn)) storage = new AsyncLocalStorage();
  const outer = synchronousTurn;
  synchronousTurn = turn;
  try {
    return storage === undefined ? body() : storage.run(turn, body);
  } finally {
    synchronousTurn = outer;
  }
}

/**
 * Returns whether `turn` needs the storage. The runtime's own agents and the program's root do not: without it, code
 * after their awaits runs as the root.
 */
function needsAsyncStorage(turn: AnyTurn): boolean {
  const { cell } = turn;
  return (cell.mesh !== AGENT_MESH && cell !== mainRootOrFactory) || turn instanceof ModuleLoadingTurn;
}

/** Returns the current turn inside `runInTurn`. */
export function runningTurn(): AnyTurn {
  return synchronousTurn!;
}

/**
 * Sets the root actor that code outside of actors sends as, or a function that creates it when it is first needed.
 *
 * @returns the previous value
 */
export function setMainRoot(
  root: ActorCell | (() => ActorCell) | undefined,
): ActorCell | (() => ActorCell) | undefined {
  const before = mainRootOrFactory;
  mainRootOrFactory = root;
  return before;
}

export function mainRoot(): ActorCell {
  if (typeof mainRootOrFactory === "function") mainRootOrFactory = mainRootOrFactory();
  if (mainRootOrFactory === undefined)
    throw new Error('cannot send: no Viceroy runtime in this process, import "viceroy" first');
  return mainRootOrFactory;
}

/**
 * Returns the context of the running code. It stays available after `await`, and inside the body of a streaming
 * handler.
 *
 * @example
 * ```ts
 * import { context } from "viceroy";
 *
 * async function handle(url: string): Promise<string> {
 *   // The request is given up when the caller stops waiting.
 *   const response = await fetch(url, { signal: context().signal });
 *   return `rank ${context().rank}: ${await response.text()}`;
 * }
 * ```
 *
 * @returns the context; reading `rank`, `extent`, `signal`, `caller` or `trace` of it throws outside a handler
 * @throws {Error} when no Viceroy runtime has been loaded in this process
 */
export function context(): Context {
  return currentTurn() ?? mainRoot().turn;
}

/** Returns the clock of the program's own proc. */
export function mainClock(): Clock {
  return mainRoot().proc.clock;
}
