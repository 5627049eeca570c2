/**
 * Waits through tensors that cannot end. An actor whose message has a tensor of a mesh waits for it; the tensor may come after the answer of
 * another actor, which the mesh's worker waits for; and that actor may have called the first one, which takes no message meanwhile. Each
 * process sees what waits in it: a circle through several processes is not found.
 */
import type { TensorKey } from "../../../generated/tensor.js";
import type { HandlerTurn } from "../../codegen/v1/index.js";
import { type ArrivingTensor, type ExchangeResult, isMissing, takeTensors } from "./rendezvous.js";

/** How often is looked, and for how long a circle must have been there: whoever has called may go on without the answer. */
const CHECK_INTERVAL_MS = 1000;
const CONFIRMING_CHECKS = 5;

interface TensorWait {
  readonly arriving: readonly ArrivingTensor[];
  readonly turn: HandlerTurn;
  readonly fail: (error: Error) => void;
  /** What it was last seen to wait for in a circle, and how often in a row. */
  deadlockedWith: HandlerTurn | undefined;
  confirmations: number;
}

const pendingWaits = new Set<TensorWait>();
/** Who answers what stays here, by mesh and number. */
const answeringTurns = new Map<string, HandlerTurn>();
/** Of each mesh, the answer that its worker waits for, with all that was recorded after it. */
const awaitedByWorker = new Map<bigint, string>();
let checkTimer: NodeJS.Timeout | undefined;

/** Resolves when all of them are there. @throws Error that says why they never will be */
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

/** A handler begins whose answer stays here. @returns what is called at its end */
export function registerAnsweringTurn(key: TensorKey, turn: HandlerTurn): () => void {
  const name = exchangeName(key);
  answeringTurns.set(name, turn);
  return () => {
    answeringTurns.delete(name);
  };
}

/** Takes an answer for the worker of a mesh, which does nothing else meanwhile. */
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

/** Who answers what one of its tensors comes after, and waits for this actor. */
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
