/**
 * Whether a signal is ending this program. Code outside of actors waits for answers that the end takes away: it is left
 * waiting, since the program would otherwise end as if it had failed by itself, or begin anew what can never succeed.
 */
let isEnding = false;

/** A signal ends the program: everything that it owns is stopped, and then it exits. */
export function markProgramEnding(): void {
  isEnding = true;
}

/** Whether a signal is ending this program. */
export function isProgramEnding(): boolean {
  return isEnding;
}
