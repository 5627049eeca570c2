/** The calls of a step with arguments of certain shapes and with certain plain values. */
import type { NativeStepProgram } from "../../native/tensor-addon.js";
import { addon } from "../operation/addon.js";
import { type CapturedEffects, captureEffects } from "../operation/capture.js";
import type { Recording } from "../operation/recording.js";
import type { Tensor } from "../value/tensor.js";
import type { FlatValue } from "./values.js";

/** The number of successive calls without a replay after which calls are not captured any more. */
const MAX_CAPTURES = 16;

/** The key by which the program of a call is found. */
export interface CallKey {
  readonly recording: Recording;
  /** The recording of the running code, which makes tensors there; undefined: in this process. */
  readonly current: Recording | undefined;
  /** The text of the arguments without their tensors. */
  readonly text: string;
  readonly tensors: readonly Tensor[];
}

export class StepProgram {
  readonly #key: CallKey;
  readonly #native: NativeStepProgram;
  #captures = 0;
  #lastReason: string | undefined;
  /** The effects and the result of the last captured call. */
  #effects: CapturedEffects | undefined;
  #result: FlatValue | undefined;

  constructor(key: CallKey) {
    this.#key = { ...key, tensors: [] };
    this.#native = addon().newStepProgram(key.recording.recorder, key.tensors);
  }

  matches({ recording, current, text, tensors }: CallKey): boolean {
    const own = this.#key;
    return (
      recording === own.recording &&
      current === own.current &&
      text === own.text &&
      addon().matchesStep(this.#native, tensors)
    );
  }

  /** Returns why a call cannot be replayed; undefined if it can. */
  whyNotReplayed(tensors: readonly Tensor[]): string | undefined {
    const why = this.#findObstacle(tensors);
    this.#lastReason = why ?? this.#lastReason;
    return why;
  }

  #findObstacle(tensors: readonly Tensor[]): string | undefined {
    const why = addon().whyNotReplayed(this.#native, tensors);
    if (why !== "") return why;
    for (const check of this.#effects!.checks) {
      const changed = check();
      if (changed !== undefined) return changed;
    }
    return undefined;
  }

  /** Replays a call for which `whyNotReplayed` has returned undefined. */
  replay(tensors: readonly Tensor[]): unknown {
    const { recording } = this.#key;
    recording.check();
    const numbers: number[] = [];
    for (const action of this.#effects!.actions) action(numbers);
    const results = addon().replayStep(this.#native, tensors, Float64Array.from(numbers)) as Tensor[];
    this.#captures = 0;
    recording.recorded();
    return this.#result!.withTensors(results);
  }

  /** Why calls are not captured any more; undefined if they are. */
  get whyNotCaptured(): string | undefined {
    if (this.#captures < MAX_CAPTURES) return undefined;
    return `its calls have not been recorded since ${MAX_CAPTURES} of them were not replayed: ${this.#lastReason}`;
  }

  /**
   * Captures a call.
   *
   * @param call runs the step
   * @returns the result, and why the next call is not replayed; undefined if it can be
   */
  capture(
    tensors: readonly Tensor[],
    call: () => FlatValue,
  ): { readonly result: FlatValue; readonly why: string | undefined } {
    const effects: CapturedEffects = { refusal: undefined, checks: [], actions: [], numbers: 0 };
    this.#captures++;
    addon().beginCapture(this.#native, tensors);
    let result: FlatValue;
    try {
      result = captureEffects(effects, call);
    } catch (error) {
      addon().cancelCapture(this.#native);
      throw error;
    }
    const disposed = tensors.some((one) => addon().isDisposed(one));
    const refusal = effects.refusal ?? (disposed ? "it disposes of an argument" : "");
    const isOtherResult = refusal === "" && this.#result !== undefined && this.#result.text !== result.text;
    // The call is then the first of those that are compared.
    if (isOtherResult) this.forget();
    const { compared, why } = addon().endCapture(this.#native, result.tensors, effects.numbers, refusal);
    if (compared) {
      this.#effects = effects;
      this.#result = { ...result, tensors: [] };
    }
    const reason = isOtherResult ? "it returns other plain values than the call before" : why;
    if (reason !== "") this.#lastReason = reason;
    return { result, why: reason === "" ? undefined : reason };
  }

  /** Forgets the captured calls, and the program of the workers. */
  forget(): void {
    addon().forgetStep(this.#native);
    this.#effects = undefined;
    this.#result = undefined;
  }
}
