/**
 * `context()`: describes the message that the running code handles and the actor that the code belongs to. The current
 * turn is a module-level variable while a handler runs synchronously. A `TurnStorage` carries the turn across awaits.
 *
 * The storage is created when the first actor of the user runs in this process. From then on every promise costs more
 * (60 ns on Node 20), so a program that only calls actors in other processes, or only runs tasks there, never pays this cost.
 */
import { AGENT_MESH } from "../link/address.js";
import type { Clock } from "../link/clock.js";
import { emptyChain } from "../link/frame/message-extension.js";
import type { TraceContext } from "../link/trace-context.js";
import type { Extent, Point } from "../shape/index.js";
import type { ActorContext, CallerContext, Context, ProcContext, Trace } from "./reference/handler-context.js";
import type { LocalActor } from "./reference/local-actor.js";
import type { OutstandingCall } from "./reference/outstanding-call.js";
import { createTurnStorage, type TurnStorage } from "./turn-storage.js";

/** A turn: a stretch of code that belongs to one actor, with what the messages carry that this code sends. */
export interface AnyTurn extends Context {
  readonly cell: LocalActor;
  /** The actors that wait for this turn, as a message carries them. */
  readonly chain: readonly number[];
  /** The position in a trace that messages of this turn follow from. Undefined: each of them starts a trace. */
  readonly span: TraceContext | undefined;
  /** The time in which the caller still waits for this turn, in milliseconds. 0: no limit. */
  readonly timeLeft: number;
  /** The endpoint whose handler runs. Undefined outside of messages. */
  readonly endpoint: string | undefined;
  /** An object that a layer above actors keeps for the code of this turn. Undefined: there is none. */
  scope: unknown;
  /** Registers a call that this turn has made. The call is abandoned when the caller of this turn stops waiting. */
  addOutstanding(call: OutstandingCall): void;
}

/**
 * The turn of code that runs outside of messages: the program's root, and `init`, `supervise` and `cleanup` of an
 * actor.
 */
export class NoMessageTurn implements AnyTurn {
  readonly cell: LocalActor;
  /**
   * The call chain of this turn. In `init` it holds the actor itself, because the actor takes no messages meanwhile.
   */
  readonly chain: readonly number[];
  /** Undefined: without a message there is no trace, so each message sent from here starts one. */
  readonly span = undefined;
  /** Always 0: no caller waits for an answer. */
  readonly timeLeft = 0;
  readonly endpoint = undefined;
  scope: unknown = undefined;

  constructor(cell: LocalActor, chain: readonly number[] = emptyChain) {
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

  get key(): string | undefined {
    return refuseOutsideHandler("key");
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

let synchronousTurn: AnyTurn | undefined;
let storage: TurnStorage<AnyTurn> | undefined;
let mainRootOrFactory: LocalActor | (() => LocalActor) | undefined;

/** Returns the turn that the running code belongs to, or undefined outside of actors. */
export function currentTurn(): AnyTurn | undefined {
  return synchronousTurn ?? storage?.current();
}

/**
 * Returns the actor that the running code belongs to. It is the sender of all messages that this code sends.
 * @throws {Error} before a runtime has started
 */
export function currentCell(): LocalActor {
  return currentTurn()?.cell ?? mainRoot();
}

/** Returns a function that tells why the actor that the running code belongs to has ended; undefined while it has not. */
export function ownActorEnd(): () => Error | undefined {
  const cell = currentCell();
  return () => cell.ended;
}

/**
 * Runs `body`, and the continuations of its awaits, as code of `turn`. All turns share one function `body`, which finds
 * its turn by `runningTurn`.
 */
export function runInTurn(turn: AnyTurn, body: () => unknown): unknown {
  const carrier = storageFor(turn);
  const outer = synchronousTurn;
  synchronousTurn = turn;
  try {
    return carrier === undefined ? body() : carrier.run(turn, body);
  } finally {
    synchronousTurn = outer;
  }
}

/**
 * Starts the handler of a message, or resumes the generator of a stream, as `runInTurn` does, but where it costs less, without the values that other
 * AsyncLocalStorages have in the code that happens to do so: that code belongs to the link or to the message before.
 */
export function startInTurn(turn: AnyTurn, body: () => unknown): unknown {
  const carrier = storageFor(turn);
  const outer = synchronousTurn;
  synchronousTurn = turn;
  try {
    return carrier === undefined ? body() : carrier.start(turn, body);
  } finally {
    synchronousTurn = outer;
  }
}

/** Returns the storage of this process, which the first turn that needs one creates. */
function storageFor(turn: AnyTurn): TurnStorage<AnyTurn> | undefined {
  if (storage === undefined && needsStorage(turn)) storage = createTurnStorage(() => synchronousTurn);
  return storage;
}

/**
 * Calls `body(first, second)` as code of `turn`. It costs less than `runInTurn`, because continuations of awaits stay those of the
 * caller: `body` sends messages and awaits nothing.
 */
export function callInTurn<A, B>(turn: AnyTurn, body: (first: A, second: B) => void, first: A, second: B): void {
  const outer = synchronousTurn;
  synchronousTurn = turn;
  try {
    if (storage === undefined) body(first, second);
    else storage.keep(outer, body, first, second);
  } finally {
    synchronousTurn = outer;
  }
}

const endpointsWithoutStorage = new WeakMap<object, ReadonlySet<string>>();

/**
 * Declares that some code of an actor class needs no storage: the handlers of `endpoints`, and what runs outside of messages. This code
 * reads `context()` before its first await, and sends messages before it or by `runInTurn`.
 */
export function runWithoutStorage(actorClass: object, endpoints: readonly string[]): void {
  endpointsWithoutStorage.set(actorClass, new Set(endpoints));
}

/**
 * Returns whether `turn` needs the storage. The runtime's own agents and the program's root do not: without it, code
 * after their awaits runs as the root.
 */
function needsStorage(turn: AnyTurn): boolean {
  const { cell, endpoint } = turn;
  if (turn instanceof ModuleLoadingTurn) return true;
  if (cell.mesh === AGENT_MESH || cell === mainRootOrFactory) return false;
  const { actorClass } = cell.spec;
  const without = actorClass === undefined ? undefined : endpointsWithoutStorage.get(actorClass);
  return without === undefined || (endpoint !== undefined && !without.has(endpoint));
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
  root: LocalActor | (() => LocalActor) | undefined,
): LocalActor | (() => LocalActor) | undefined {
  const before = mainRootOrFactory;
  mainRootOrFactory = root;
  return before;
}

/** Returns whether an actor is the root of this process. A daemon has sessions with roots of their own, and none of the process. */
export function isMainRoot(cell: LocalActor): boolean {
  return mainRootOrFactory !== undefined && mainRoot() === cell;
}

export function mainRoot(): LocalActor {
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
  return currentTurn() ?? new NoMessageTurn(mainRoot());
}

/** Returns the clock of the program's own proc. */
export function mainClock(): Clock {
  return mainRoot().proc.clock;
}
