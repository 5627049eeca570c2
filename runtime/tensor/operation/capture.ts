/**
 * The call of a recorded step that is being captured. Code whose effects are not operations either refuses the replay, or adds
 * what a replay must do as well.
 */

/** The part of a captured call that later replays repeat and check in this process. */
export interface CapturedEffects {
  /** Why the call cannot be replayed; undefined if it can. */
  refusal: string | undefined;
  /** Each returns why the call cannot be replayed at the moment, or undefined. */
  readonly checks: (() => string | undefined)[];
  /** In order: changes of state, and the numbers of marked operations. */
  readonly actions: ((numbers: number[]) => void)[];
  /** The number of numbers that the captured call has marked. */
  numbers: number;
}

let captured: CapturedEffects | undefined;

/** Runs a call of a step, and collects its effects. */
export function captureEffects<T>(effects: CapturedEffects, call: () => T): T {
  captured = effects;
  try {
    return call();
  } finally {
    captured = undefined;
  }
}

/** Returns the effects of the captured call; undefined outside of one. */
export function capturedEffects(): CapturedEffects | undefined {
  return captured;
}

/**
 * States that the running call of a step cannot be replayed. Does nothing outside of a captured call.
 *
 * @param why what the step does: `it inspects a tensor`
 */
export function refuseReplay(why: string): void {
  if (captured !== undefined) captured.refusal ??= why;
}
