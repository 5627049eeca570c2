/**
 * `context()`: what code can know of the message it handles and of the actor it belongs to. The current turn is a
 * module-level variable while a handler runs synchronously, and follows it across awaits in an AsyncLocalStorage.
 *
 * The storage is made when the first of the user's actors runs in this process: from then on every promise costs more
 * (on Node 20, 60 ns), and a program that only calls actors elsewhere never pays.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { type ActorId, AGENT_MESH } from "../link/address.js";
import type { Clock } from "../link/clock.js";
import { noChain } from "../link/extension.js";
import type { Extent, Point } from "../shape/index.js";
import type { ActorCell } from "./cell.js";
import type { OutstandingCall, Turn } from "./turn.js";

/** The actor that handles a message. */
export interface ActorContext {
  readonly id: ActorId;
  /** The name its mesh was spawned with. */
  readonly name: string;
  /** Its place in the mesh as it was spawned, never in a slice. */
  readonly rank: Point;
}

/** The process, or the part of one, that the actor lives in. */
export interface ProcContext {
  /** 16 hex digits. */
  readonly id: string;
  /** Its rank in the mesh of processes as that was spawned, never in a slice; 0 of a program. */
  readonly rank: number;
}

export interface CallerContext {
  readonly id: ActorId;
  readonly name: string;
}

/** Where the running code stands in a trace, as W3C Trace Context has it. */
export interface Trace {
  /** 32 hex digits, the same for all messages that follow from one. */
  readonly id: string;
  /** 16 hex digits: the handling of this message. */
  readonly spanId: string;
  /** 16 hex digits: what the message was sent from. Absent: the trace begins with it. */
  readonly parentId?: string;
  /** All of it as the header of that name has it. */
  readonly traceparent: string;
}

export interface Context {
  /** The place in the mesh or slice that the message was sent to. @throws Error outside a handler */
  readonly rank: Point;
  /** Sizes of the mesh or slice that the message was sent to. @throws Error outside a handler */
  readonly extent: Extent;
  readonly actor: ActorContext;
  readonly proc: ProcContext;
  /** Aborted when the caller waits no more. @throws Error outside a handler */
  readonly signal: AbortSignal;
  /** Who sent the message. @throws Error outside a handler */
  readonly caller: CallerContext;
  /** @throws Error outside a handler */
  readonly trace: Trace;
}

/** What runs outside of messages: a program's root, and `init`, `supervise` and `cleanup` of an actor. */
export class NoMessageTurn implements Context {
  readonly cell: ActorCell;
  /** As of a turn: the actor itself in `init`, since it takes no messages meanwhile. */
  readonly chain: readonly number[];
  /** No message, no trace: what is sent starts one. */
  readonly span = undefined;
  /** Nobody waits for an answer. */
  readonly timeLeft = 0;
  readonly isEnded = false;

  constructor(cell: ActorCell, chain: readonly number[] = noChain) {
    this.cell = cell;
    this.chain = chain;
  }

  /** What it calls ends by itself. */
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

/** What runs because a module of actors is being loaded, and whatever the module leaves running. */
export class ModuleLoadingTurn extends NoMessageTurn {}

function refuseOutsideHandler(what: string): never {
  throw new Error(`cannot read context().${what}: expected a handler of a message, got code outside of one`);
}

export type AnyTurn = Turn | NoMessageTurn;

let synchronousTurn: AnyTurn | undefined;
let storage: AsyncLocalStorage<AnyTurn> | undefined;
let mainRootOrFactory: ActorCell | (() => ActorCell) | undefined;

/** The turn that the running code belongs to; undefined outside of actors. */
export function currentTurn(): AnyTurn | undefined {
  return synchronousTurn ?? storage?.getStore();
}

/** The actor that the running code belongs to: who sends what it sends. @throws Error before a runtime has started */
export function currentCell(): ActorCell {
  return currentTurn()?.cell ?? mainRoot();
}

/**
 * Runs `body` as `turn`, and what it awaits too. `body` is one function for all turns: it finds its turn in
 * `runningTurn`.
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

/** The runtime's own agents, and the program's root, need no storage: what they await goes on as the root. */
function needsAsyncStorage(turn: AnyTurn): boolean {
  const { cell } = turn;
  return (cell.mesh !== AGENT_MESH && cell !== mainRootOrFactory) || turn instanceof ModuleLoadingTurn;
}

/** Inside `runInTurn`: its turn. */
export function runningTurn(): AnyTurn {
  return synchronousTurn!;
}

/**
 * The root that code outside of actors sends as; a function makes it when it is first needed.
 * @returns what it was before
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

/** What is known of the running code: its message, its actor, its process. */
export function context(): Context {
  return currentTurn() ?? mainRoot().turn;
}

/** The clock of the program's own proc. */
export function mainClock(): Clock {
  return mainRoot().proc.clock;
}
