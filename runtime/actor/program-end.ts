/**
 * Whether a signal is ending this program. While it is, pending calls and receives of code outside of actors stay
 * pending when their peers end. Otherwise the program would end as if it had failed by itself, or retry calls that
 * cannot succeed.
 */
let isEnding = false;

/** Records that a signal is ending the program. The program stops everything that it owns and then exits. */
export function markProgramEnding(): void {
  isEnding = true;
}

/** Returns whether a signal is ending this program. */
export function isProgramEnding(): boolean {
  return isEnding;
}
