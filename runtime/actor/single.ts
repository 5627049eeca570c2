/** The answer of one actor: `callOne` and `choose`. The common case of a call, and the one that has to be quick. */
import type { PendingCall } from "../link/calls.js";
import type { Session } from "../link/session.js";
import type { Reader } from "../wire/reader.js";
import { CallFuture, callError } from "./call-future.js";
import type { CallSink } from "./dispatch.js";
import { SupervisionError } from "./errors.js";
import { holdReceived, portsRead } from "./holders.js";
import { awaitAsPromise } from "./plain-promise.js";

export class SingleCall<T> extends CallFuture<T> implements CallSink {
  static {
    awaitAsPromise(SingleCall);
  }
  #session: Session | undefined;
  #call: PendingCall | undefined;

  /** The message has been sent, or waits for credit. */
  sent(_rank: number, session: Session, call: PendingCall): void {
    this.#session = session;
    this.#call = call;
  }

  answered(_rank: number, r: Reader): void {
    if (this.settled) return;
    let value: unknown;
    try {
      value = this.called.result?.decodeFrom(r);
    } catch (error) {
      this.fail(error, false);
      return;
    }
    if (portsRead.length > 0) holdReceived(this.#session);
    this.fulfil(value as T);
  }

  failed(rank: number, error: Error): void {
    if (this.settled) return;
    const told = callError(this.called.label, rank, error);
    this.fail(told, told instanceof SupervisionError);
  }

  item(): void {}

  ended(): void {}

  protected override release(reason: number): void {
    if (this.#call !== undefined) this.#session?.abandon(this.#call, reason);
  }
}
