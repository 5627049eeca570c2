/**
 * The awaitable that `broadcast` and `port.send` return. It resolves when the receiver has credit for the message and
 * never rejects. Most messages have credit at once, and they all share one instance.
 */
import type { CreditWaiter } from "../link/outbound/message-sender.js";
import { awaitAsPromise } from "../plain-promise.js";

let resolveLast: () => void;
const keepResolve = (resolve: (value: undefined) => void): void => {
  resolveLast = resolve as () => void;
};

/**
 * The result of `broadcast` and `port.send`: a promise that resolves when the receiver has credit for the message. It
 * never rejects. A sender that does not await it gets a {@link BackpressureError} once the send window is full.
 */
export class Sent extends Promise<void> implements CreditWaiter {
  static {
    awaitAsPromise(Sent);
  }
  readonly #resolve: () => void;
  #waitsFor: number;

  /**
   * Called by adverbs.
   *
   * @hidden
   * @param waitsFor number of messages that must get credit
   */
  constructor(waitsFor = 0) {
    super(keepResolve);
    this.#resolve = resolveLast;
    this.#waitsFor = waitsFor;
    if (waitsFor === 0) this.#resolve();
  }

  /**
   * Notes that one more of the messages has credit.
   *
   * @hidden
   */
  credited(): void {
    if (--this.#waitsFor === 0) this.#resolve();
  }
}

/** The shared instance for messages that have credit at once. */
export const sentNow = new Sent();
