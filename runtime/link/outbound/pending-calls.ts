/**
 * The calls that one link waits on, named on the wire by an index and a generation, so that an answer that comes twice
 * finds nobody. Every call is ended by exactly one frame of its receiver, or by the end of the link; a caller that gave
 * up leaves its call here until then.
 */
import type { Reader } from "../../wire/reader.js";
import type { Session } from "./session.js";

/**
 * One message that waits for its answer. The link keeps the fields; who waits implements the methods, none of which
 * throws. `answered`, `failed` and `ended` are called once in all, and are the end of the call.
 */
export interface PendingCall {
  /** Its name on the wire while it is pending, else 0. */
  id: number;
  session: Session | undefined;
  /** Bytes of credit that come back with the answer. */
  credit: number;
  /** Nobody waits any more. */
  isAbandoned: boolean;
  /** The answer has come; `r` stands at its message. */
  answered(r: Reader): void;
  /** The handler has thrown, or the message could not be delivered. */
  failed(error: Error): void;
  /** One item of the stream of a call, of `size` bytes. */
  item(r: Reader, size: number): void;
  /** The stream has ended. */
  ended(): void;
}

const INDEX_BITS = 24;
const INDEX_MASK = (1 << INDEX_BITS) - 1;
const GENERATION_STEP = 1 << INDEX_BITS;
/** Names stay small integers. */
const MAX_CALL_ID = 0x7fff_ffff;

export class PendingCalls {
  /** By index. */
  readonly #calls: (PendingCall | undefined)[] = [];
  /** The name that the next call with an index gets. */
  readonly #nextIds: number[] = [];
  readonly #free: number[] = [];

  /** Calls that have not ended, abandoned ones included. */
  get size(): number {
    return this.#nextIds.length - this.#free.length;
  }

  add(call: PendingCall, session: Session): void {
    const index = this.#free.length > 0 ? this.#free.pop()! : this.#grow();
    call.id = this.#nextIds[index]!;
    call.session = session;
    this.#calls[index] = call;
  }

  /** The call that a frame names. */
  find(id: number): PendingCall | undefined {
    const call = this.#calls[(id & INDEX_MASK) - 1];
    return call !== undefined && call.id === id ? call : undefined;
  }

  /** Ends a call: its name is not valid any more. */
  remove(call: PendingCall): void {
    const index = (call.id & INDEX_MASK) - 1;
    this.#calls[index] = undefined;
    this.#nextIds[index] = (call.id + GENERATION_STEP) & MAX_CALL_ID;
    this.#free.push(index);
    call.id = 0;
  }

  /** All calls that have not ended, in no order that means anything. */
  all(): PendingCall[] {
    return this.#calls.filter((call) => call !== undefined);
  }

  #grow(): number {
    const index = this.#nextIds.length;
    if (index >= INDEX_MASK) throw new RangeError(`cannot call: ${index} calls are pending on this link`);
    this.#nextIds.push(index + 1);
    return index;
  }
}
