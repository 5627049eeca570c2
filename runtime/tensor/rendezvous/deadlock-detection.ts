/**
 * Detects deadlocks through tensors. Actor A waits for a tensor of its message. The mesh's worker produces the tensor after it
 * has taken the retained result of actor B. If the handler of B has called A, all three wait for each other, since A handles no
 * other message meanwhile. The detection sees one process: a cycle through several processes is not found.
 */
import type { TensorKey } from "../../../generated/tensor.js";
import type { HandlerTurn } from "../../codegen/v1/index.js";
import { type ArrivingTensor, type ExchangeResult, isMissing, takeTensors } from "./rendezvous.js";

/** The interval between checks. */
const CHECK_INTERVAL_MS = 1000;
/** The number of consecutive checks that must find the same cycle, since a handler can go on without the result of its call. */
const CONFIRMING_CHECKS = 5;

interface TensorWait {
  readonly arriving: readonly ArrivingTensor[];
  readonly turn: HandlerTurn;
  readonly fail: (error: Error) => void;
  /** The handler in the cycle that the last check found. `confirmations` counts the consecutive checks that found it. */
  deadlockedWith: HandlerTurn | undefined;
  confirmations: number;
}

const pendingWaits = new Set<TensorWait>();
/** The running handlers whose results are retained, by the name of the exchange. */
const answeringTurns = new Map<string, HandlerTurn>();
/** The exchange that the worker of each mesh waits for, by mesh. All later commands of the worker wait, too. */
const awaitedByWorker = new Map<bigint, string>();
let checkTimer: NodeJS.Timeout | undefined;

/** Resolves when all tensors have arrived. Rejects with the reason if they can never arrive. */
export function waitForTensors(arriving: readonly ArrivingTensor[], turn: HandlerTurn): Promise<void> {
  return new Promise((resolve, reject) => {
    const wait: TensorWait = { arriving, turn, fail: reject, deadlockedWith: undefined, confirmations: 0 };
    pendingWaits.add(wait);
    checkTimer ??= setInterval(checkForDeadlocks, CHECK_INTERVAL_MS).unref();
    Promise.all(arriving.map(({ arrived }) => arrived))
      .then(() => resolve(), reject)
      .finally(() => pendingWaits.delete(wait));
  });
}

/** Registers a handler whose result is retained. Returns a function to call when the handler has ended. */
export function registerAnsweringTurn(key: TensorKey, turn: HandlerTurn): () => void {
  const name = exchangeName(key);
  answeringTurns.set(name, turn);
  return () => {
    answeringTurns.delete(name);
  };
}

/** Takes a retained result for the worker of a mesh, which executes no command meanwhile. */
export async function takeForWorker(key: TensorKey): Promise<ExchangeResult> {
  awaitedByWorker.set(key.mesh, exchangeName(key));
  try {
    return await takeTensors(key);
  } finally {
    awaitedByWorker.delete(key.mesh);
  }
}

function checkForDeadlocks(): void {
  for (const wait of pendingWaits) {
    const around = findDeadlock(wait);
    wait.confirmations = around !== undefined && around === wait.deadlockedWith ? wait.confirmations + 1 : 0;
    wait.deadlockedWith = around;
    if (around === undefined || wait.confirmations < CONFIRMING_CHECKS) continue;
    pendingWaits.delete(wait);
    wait.fail(
      new Error(
        `cannot take the tensors of ${wait.turn.label}: they come after the answer of ${around.label}, which waits for an answer of this actor; ` +
          "neither could go on. Make this call before the rref, or let the other actor not wait",
      ),
    );
  }
  if (pendingWaits.size > 0) return;
  clearInterval(checkTimer);
  checkTimer = undefined;
}

/** Returns the handler that a tensor of the wait depends on and that waits for the same actor; undefined if there is none. */
function findDeadlock({ arriving, turn }: TensorWait): HandlerTurn | undefined {
  for (const { key } of arriving) {
    const awaited = isMissing(key) ? awaitedByWorker.get(key.mesh) : undefined;
    const answerer = awaited === undefined ? undefined : answeringTurns.get(awaited);
    if (answerer !== undefined && turn.isAwaitedBy(answerer.token)) return answerer;
  }
  return undefined;
}

function exchangeName({ mesh, number }: TensorKey): string {
  return `${mesh}:${number}`;
}
