/** `recorded`: a step whose calls are sent to the procs of a mesh as one message when they equal the calls before. */

import { TensorError } from "../errors.js";
import { addon } from "../operation/addon.js";
import { activeRecording, currentRecording, type Recording } from "../operation/recording.js";
import type { Tensor } from "../value/tensor.js";
import { TensorScope } from "../value/tensor-scope.js";
import { type CallKey, StepProgram } from "./step-program.js";
import { type FlatValue, flattenValue } from "./values.js";

/** The maximum number of programs of one step. The one that was not used for the longest time is forgotten. */
const MAX_PROGRAMS = 8;
/** The number of programs that are forgotten without a replay, after which calls are not captured any more. */
const MAX_FORGOTTEN = 64;

/** The number of calls of a step by their kind. */
export interface StepCounts {
  /** The number of calls that have run the function. */
  readonly plain: number;
  /** The number of calls that were replayed. */
  readonly replayed: number;
}

/** A step whose calls can be replayed. {@link recorded} makes it. */
export interface RecordedStep<A extends readonly unknown[], R> {
  /** Calls the step. */
  (...args: A): R;
  /** The number of calls so far. */
  readonly calls: StepCounts;
  /** The reason why the last call was not replayed. Undefined if it was. */
  readonly reason: string | undefined;
  /** Forgets all earlier calls, so that the next calls run the function. */
  reset(): void;
  /** Frees what the procs keep for replays. The step can still be called, and runs the function each time. */
  dispose(): void;
  /** Disposes of the step at the end of a `using` block. */
  [Symbol.dispose](): void;
}

/**
 * Returns a function that does the same as a step on a mesh, with less work for this process. If two successive calls record the
 * same operations, later calls do not run the step. Each is replayed by the procs after one message, so that its costs in
 * this process do not depend on the number of operations.
 *
 * A call belongs to others with the same shapes and types of tensors and the same plain values. In a replay, code of the step
 * that is not an operation has no effect: JavaScript variables are not read again, and the branches are those of the recorded
 * calls. Call `reset` when they change.
 *
 * Tensors that the step makes are disposed of after the call, except for its results. Results have no gradients.
 *
 * @example
 * ```ts
 * import { nn, optim, recorded, type Tensor, torch } from "viceroy/tensor";
 *
 * const model = new nn.Linear(2, 1);
 * const optimizer = new optim.AdamW(model.parameters());
 * const step = recorded((x: Tensor, y: Tensor) => {
 *   optimizer.zeroGrad();
 *   const loss = torch.mse_loss(model.forward(x), y);
 *   loss.backward();
 *   optimizer.step();
 *   return loss;
 * });
 * ```
 *
 * @param step a synchronous function. Arguments and results are tensors, plain values, and arrays and objects of them
 * @throws {TypeError} when called with an argument that requires gradients, or with other values, or when the step returns a
 * promise or other values
 */
export function recorded<A extends readonly unknown[], R>(step: (...args: A) => R): RecordedStep<A, R> {
  const calls = new StepCalls(step as (...args: readonly unknown[]) => unknown);
  const call = (...args: A) => calls.call(args) as R;
  return Object.defineProperties(call, {
    calls: { get: () => calls.counts },
    reason: { get: () => calls.reason },
    reset: { value: () => calls.reset() },
    dispose: { value: () => calls.dispose() },
    [Symbol.dispose]: { value: () => calls.dispose() },
  }) as RecordedStep<A, R>;
}

/** Whether a call of a recorded step is running. Recorded steps that it calls are parts of it. */
let isRunning = false;

class StepCalls {
  readonly #step: (...args: readonly unknown[]) => unknown;
  /** The one that was used last comes first. */
  #programs: StepProgram[] = [];
  /** The number of forgotten programs since the last replay. */
  #forgotten = 0;
  #isDisposed = false;
  #plain = 0;
  #replayed = 0;
  #reason: string | undefined;

  constructor(step: (...args: readonly unknown[]) => unknown) {
    this.#step = step;
  }

  get counts(): StepCounts {
    return { plain: this.#plain, replayed: this.#replayed };
  }

  get reason(): string | undefined {
    return this.#reason;
  }

  call(args: readonly unknown[]): unknown {
    const { text, tensors } = flattenValue(args, "cannot call a recorded step: argument", "");
    const withGradient = tensors.findIndex((one) => one.requiresGrad);
    if (withGradient >= 0) {
      throw new TypeError(
        `cannot call a recorded step: tensor ${withGradient} of its arguments requires gradients; pass what detach() returns`,
      );
    }
    if (this.#isDisposed) return this.#runPlainly(args, "the step has been disposed of");
    if (this.#forgotten >= MAX_FORGOTTEN)
      return this.#runPlainly(args, "its shapes or plain values change all the time");
    if (isRunning) return this.#runPlainly(args, "it is called by another recorded step");
    const recording = recordingOf(tensors);
    if (typeof recording === "string") return this.#runPlainly(args, recording);
    const key = { recording, current: currentRecording(), text, tensors };
    return this.#callProgram(this.#programOf(key), args, tensors);
  }

  reset(): void {
    for (const program of this.#programs) program.forget();
    this.#programs = [];
    this.#forgotten = 0;
  }

  dispose(): void {
    this.reset();
    this.#isDisposed = true;
  }

  #programOf(key: CallKey): StepProgram {
    const found = this.#programs.findIndex((one) => one.matches(key));
    const program = found < 0 ? new StepProgram(key) : this.#programs[found]!;
    if (found === 0) return program;
    if (found > 0) this.#programs.splice(found, 1);
    this.#programs.unshift(program);
    if (this.#programs.length > MAX_PROGRAMS) {
      this.#programs.pop()!.forget();
      this.#forgotten++;
    }
    return program;
  }

  #callProgram(program: StepProgram, args: readonly unknown[], tensors: readonly Tensor[]): unknown {
    const { whyNotCaptured } = program;
    if (whyNotCaptured !== undefined) return this.#runPlainly(args, whyNotCaptured);
    const why = program.whyNotReplayed(tensors);
    if (why === undefined) {
      this.#replayed++;
      this.#forgotten = 0;
      this.#reason = undefined;
      return program.replay(tensors);
    }
    this.#plain++;
    this.#reason = why;
    const captured = program.capture(tensors, () => this.#run(args));
    if (captured.why !== undefined) this.#reason = captured.why;
    return captured.result.withTensors(captured.result.tensors);
  }

  #runPlainly(args: readonly unknown[], reason: string): unknown {
    this.#plain++;
    this.#reason = reason;
    const { tensors, withTensors } = this.#run(args);
    return withTensors(tensors);
  }

  /** Runs the step. Returns its result with new tensors that have no gradients. */
  #run(args: readonly unknown[]): FlatValue {
    const outer = isRunning;
    isRunning = true;
    const scope = new TensorScope();
    try {
      const result = this.#step(...args);
      if (typeof (result as { then?: unknown } | null | undefined)?.then === "function") {
        throw new TypeError("cannot call a recorded step that returns a promise: await outside of the step");
      }
      const flat = flattenValue(result, "cannot return from a recorded step:", "result");
      return { ...flat, tensors: flat.tensors.map((one) => scope.keep(detachResult(one))) };
    } finally {
      isRunning = outer;
      scope.dispose();
    }
  }
}

/** The number of the call site of results. It is the same for all calls, because calls with other call sites differ. */
let resultSite: number | undefined;

function detachResult(tensor: Tensor): Tensor {
  resultSite ??= addon().addCallSite("a result of a recorded step");
  return addon().detachResult(tensor, resultSite) as Tensor;
}

/** Returns the recording of the tensors, or else of the running code; a reason if there is none. */
function recordingOf(tensors: readonly Tensor[]): Recording | string {
  const numbers = new Set(tensors.map((one) => addon().recordedReferenceOf(one)?.[0]));
  if (numbers.size === 0) return currentRecording() ?? "it runs in this process";
  if (numbers.size > 1) return "its arguments are not all on the same mesh";
  const [number] = numbers;
  if (number === undefined) {
    return currentRecording() === undefined ? "it runs in this process" : "an argument is a tensor of this process";
  }
  const recording = activeRecording(number);
  if (recording !== undefined) return recording;
  throw new TensorError(
    "ERR_TENSOR_INACTIVE",
    "cannot call a recorded step: the mesh of its arguments is not active any more",
  );
}
