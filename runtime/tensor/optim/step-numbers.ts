/** The numbers in the operations of one step of an optimizer that replays compute again. */

import { type Float, float } from "../float.js";
import { addon } from "../operation/addon.js";
import { capturedEffects } from "../operation/capture.js";
import { call } from "../value/torch.js";

export class StepNumbers {
  readonly #steps: () => readonly number[];
  readonly #compute: <T>(compute: () => T) => T;

  /**
   * @param steps returns the number of steps of each parameter
   * @param compute calls a function that computes numbers
   */
  constructor(steps: () => readonly number[], compute: <T>(compute: () => T) => T) {
    this.#steps = steps;
    this.#compute = compute;
  }

  callWithNumber(name: string, args: readonly unknown[], number: () => number, keyword?: string): unknown {
    const [value] = this.#numbers(() => [this.#compute(number)]);
    return marked(() =>
      keyword === undefined ? call(name, [...args, value]) : call(name, args, { [keyword]: value }),
    );
  }

  callWithNumbers(name: string, args: readonly unknown[], number: (step: number) => number): unknown {
    const values = this.#numbers(() => this.#compute(() => eachStep(this.#steps(), number)));
    return marked(() => call(name, [...args, values]));
  }

  /** Returns numbers that replays compute again. */
  #numbers(compute: () => readonly number[]): readonly Float[] {
    const replayed = capturedEffects();
    const now = compute();
    if (replayed !== undefined) {
      replayed.numbers += now.length;
      replayed.actions.push((numbers) => {
        for (const one of compute()) numbers.push(one);
      });
    }
    // Numbers without a fraction would be integers, and replays send all numbers as floating-point numbers.
    return now.map(float);
  }
}

/** Calls an operation whose numbers change from replay to replay. */
function marked(operation: () => unknown): unknown {
  if (capturedEffects() === undefined) return operation();
  addon().markNumbers(true);
  try {
    return operation();
  } finally {
    addon().markNumbers(false);
  }
}

/** Computes the number of each parameter. Most parameters have the same number of steps as the one before. */
function eachStep(steps: readonly number[], number: (step: number) => number): number[] {
  let last = Number.NaN;
  let value = Number.NaN;
  return steps.map((step) => {
    if (step !== last) value = number(step);
    last = step;
    return value;
  });
}
