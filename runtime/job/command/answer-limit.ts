/** The time that `viceroy job state` gives to the hosts of a job. A job that waits in a queue has none yet. */

const ANSWER_MS = 5000;

/** Calls a function that asks the hosts, with a signal that ends the waiting. Rejects with the reason if they are late. */
export function withAnswerLimit<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error(`its hosts have not answered within ${ANSWER_MS} ms`)));
  });
  return Promise.race([ask(signal), late]);
}
