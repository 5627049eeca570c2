/** Calls of one actor, by `callOne` and `choose`. They are the most common calls and must be fast. */
import type { PendingCall } from "../../link/outbound/pending-calls.js";
import type { Session } from "../../link/outbound/session.js";
import { awaitAsPromise } from "../../plain-promise.js";
import { decodeValue } from "../../wire/protobuf-messages.js";
import type { Reader } from "../../wire/reader.js";
import { SupervisionError } from "../errors.js";
import { ownReceivedPorts, portsRead } from "../port/announce-holders.js";
import { type CalledEndpoint, CallFuture, errorForCaller } from "./call-future.js";

/** Both the future and the pending call. One object for both takes less memory, and so less of the processor's caches. */
export class SingleCall<T> extends CallFuture<T> implements PendingCall {
  static {
    awaitAsPromise(SingleCall);
  }
  id = 0;
  session: Session | undefined;
  credit = 0;
  isAbandoned = false;
  readonly #rankInCalledMesh: number;

  /** @param rank the rank in the called mesh or slice */
  constructor(called: CalledEndpoint, rank: number) {
    super(called);
    this.#rankInCalledMesh = rank;
  }

  answered(r: Reader): void {
    const { result } = this.called;
    let value: unknown;
    try {
      if (result !== undefined) value = decodeValue(result, r);
    } catch (error) {
      this.rejectWith(error, false);
      return;
    }
    if (portsRead.length > 0) ownReceivedPorts(this.session);
    this.fulfil(value as T);
  }

  failed(error: Error): void {
    const told = errorForCaller(this.called, this.#rankInCalledMesh, error);
    this.rejectWith(told, told instanceof SupervisionError);
  }

  item(): void {}

  ended(): void {}

  protected override onAbandoned(reason: number): void {
    if (this.id !== 0) this.session?.abandon(this, reason);
  }
}
