/**
 * Listens to abort signals of users with one listener for each signal, for any number of calls and transfers. Node.js warns
 * of a leak at the eleventh listener of a signal, and searches all of them to remove one.
 */
type Callback = () => void;

const callbacksOf = new WeakMap<AbortSignal, Set<Callback>>();

function runCallbacks(event: Event): void {
  const signal = event.target as AbortSignal;
  const callbacks = callbacksOf.get(signal) ?? [];
  callbacksOf.delete(signal);
  for (const callback of callbacks) callback();
}

/** Calls `callback` once when `signal` is aborted. The callback must not throw. */
export function onAbort(signal: AbortSignal, callback: Callback): void {
  const known = callbacksOf.get(signal);
  if (known !== undefined) {
    known.add(callback);
    return;
  }
  callbacksOf.set(signal, new Set([callback]));
  signal.addEventListener("abort", runCallbacks, { once: true });
}

/** Removes a callback that `onAbort` has added. */
export function offAbort(signal: AbortSignal, callback: Callback): void {
  const callbacks = callbacksOf.get(signal);
  if (callbacks?.delete(callback) !== true || callbacks.size > 0) return;
  callbacksOf.delete(signal);
  signal.removeEventListener("abort", runCallbacks);
}
