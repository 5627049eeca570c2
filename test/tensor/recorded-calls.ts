/** Calls of recorded steps in tests. */
import type { RecordedStep, Tensor } from "../../runtime/tensor/index.js";
import type { RecorderAndWorker } from "./recorder-and-worker.js";

export const firstCalls = "its first calls are recorded";

/** Calls a step several times, and returns why each call was not replayed; undefined if it was. */
export function reasons(
  pair: RecorderAndWorker,
  step: RecordedStep<never, unknown>,
  ...calls: (() => readonly unknown[])[]
): (string | undefined)[] {
  return calls.map((args) => {
    pair.run(() => step(...(args() as never)));
    return step.reason;
  });
}

/** The same call several times. */
export const times = <T>(count: number, call: () => T): (() => T)[] => Array.from({ length: count }, () => call);

export function parameter(pair: RecorderAndWorker, ...values: number[]): Tensor {
  const made = pair.send(values);
  made.requiresGrad = true;
  return made;
}
