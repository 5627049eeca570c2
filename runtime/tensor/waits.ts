/**
 * Waits through tensors that cannot end. An actor whose message has a tensor of a mesh waits for it; the tensor may come after the answer of
 * another actor, which the mesh's worker waits for; and that actor may have called the first one, which takes no message meanwhile. Each
 * process sees what waits in it: a circle through several processes is not found.
 */
import type { TensorKey } from "../../generated/tensor.js";
import type { TensorTurn } from "../codegen/v1/index.js";
import { type Brought, isMissing, take } from "./hub.js";
import type { Coming } from "./wire.js";

/** How often is looked, and for how long a circle must have been there: whoever has called may go on without the answer. */
const LOOK_MS = 1000;
const MOST_LOOKS = 5;

interface Wait {
  readonly coming: readonly Coming[];
  readonly turn: TensorTurn;
  readonly fail: (error: Error) => void;
  /** What it was last seen to wait for in a circle, and how often in a row. */
  around: TensorTurn | undefined;
  looks: number;
}

const waits = new Set<Wait>();
/** Who answers what stays here, by mesh and number. */
const answerers = new Map<string, TensorTurn>();
/** Of each mesh, the answer that its worker waits for, with all that was recorded after it. */
const taking = new Map<bigint, string>();
let timer: NodeJS.Timeout | undefined;

/** Resolves when all of them are there. @throws Error that says why they never will be */
export function waitFor(coming: readonly Coming[], turn: TensorTurn): Promise<void> {
  return new Promise((resolve, reject) => {
    const wait: Wait = { coming, turn, fail: reject, around: undefined, looks: 0 };
    waits.add(wait);
    timer ??= setInterval(look, LOOK_MS).unref();
    Promise.all(coming.map(({ there }) => there))
      .then(() => resolve(), reject)
      .finally(() => waits.delete(wait));
  });
}

/** A handler begins whose answer stays here. @returns what is called at its end */
export function answering(key: TensorKey, turn: TensorTurn): () => void {
  const name = nameOf(key);
  answerers.set(name, turn);
  return () => {
    answerers.delete(name);
  };
}

/** Takes an answer for the worker of a mesh, which does nothing else meanwhile. */
export async function takeOver(key: TensorKey): Promise<Brought> {
  taking.set(key.mesh, nameOf(key));
  try {
    return await take(key);
  } finally {
    taking.delete(key.mesh);
  }
}

function look(): void {
  for (const wait of waits) {
    const around = circleOf(wait);
    wait.looks = around !== undefined && around === wait.around ? wait.looks + 1 : 0;
    wait.around = around;
    if (around === undefined || wait.looks < MOST_LOOKS) continue;
    waits.delete(wait);
    wait.fail(
      new Error(
        `cannot take the tensors of ${wait.turn.label}: they come after the answer of ${around.label}, which waits for an answer of this actor; ` +
          "neither could go on. Make this call before the rref, or let the other actor not wait",
      ),
    );
  }
  if (waits.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}

/** Who answers what one of its tensors comes after, and waits for this actor. */
function circleOf({ coming, turn }: Wait): TensorTurn | undefined {
  for (const { key } of coming) {
    const awaited = isMissing(key) ? taking.get(key.mesh) : undefined;
    const answerer = awaited === undefined ? undefined : answerers.get(awaited);
    if (answerer !== undefined && turn.isAwaitedBy(answerer.token)) return answerer;
  }
  return undefined;
}

function nameOf({ mesh, number }: TensorKey): string {
  return `${mesh}:${number}`;
}
