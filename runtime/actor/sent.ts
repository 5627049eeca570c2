/**
 * What `broadcast` and `port.send` return: something to await, which resolves when the receiver has credit for what was
 * sent. It never rejects. Most messages have credit at once; they all share one.
 */
import type { CreditWaiter } from "../link/session.js";

let resolveLast: () => void;
const keepResolve = (resolve: (value: undefined) => void): void => {
  resolveLast = resolve as () => void;
};

export class Sent extends Promise<void> implements CreditWaiter {
  readonly #resolve: () => void;
  #waitsFor: number;

  /** @param waitsFor messages that must get credit */
  constructor(waitsFor = 0) {
    super(keepResolve);
    this.#resolve = resolveLast;
    this.#waitsFor = waitsFor;
    if (waitsFor === 0) this.#resolve();
  }

  /** One more of the messages has credit. */
  credited(): void {
    if (--this.#waitsFor === 0) this.#resolve();
  }
}

/** Promises made from a Sent are plain ones, and `await` takes it for one: no extra turns of the microtask queue. */
Object.defineProperty(Sent.prototype, "constructor", { value: Promise, configurable: true, writable: true });

/** Everything had credit. */
export const sentNow = new Sent();
