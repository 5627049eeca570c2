/**
 * Makes a subclass of Promise as cheap to await as Promise. `await`, `then` and `Promise.resolve` wrap a promise whose
 * `constructor` is not Promise, which takes 100 ns and two more turns of the microtask queue. This function sets
 * `constructor` of the prototype to Promise, so `then` of an instance returns a plain promise. `instanceof` still works.
 */
export function awaitAsPromise(promiseClass: abstract new (...args: never[]) => Promise<unknown>): void {
  Object.defineProperty(promiseClass.prototype, "constructor", { value: Promise, configurable: true, writable: true });
}
