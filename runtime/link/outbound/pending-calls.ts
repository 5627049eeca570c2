/**
 * The pending calls of one link. A call is identified on the wire by an index and a generation, so that a second answer
 * to the same call finds no call. Exactly one frame of the receiver ends a call, or the end of the link does. A call
 * that its caller has given up stays here until then.
 */
import type { Reader } from "../../wire/reader.js";

/** The session of a call, as the call and its link use it. */
export interface CallSession {
  /** Credit comes back: the receiver has consumed messages, `bytes` bytes in all. */
  credited(messages: number, bytes: number): void;
  /** The actor or port at the other end has ended. */
  targetEnded(): void;
  /** A call of the session has its answer, or nobody waits for the answer any more. */
  callEnded(call: PendingCall): void;
}

/**
 * A message that waits for its answer. The link sets the fields; the caller implements the methods, which must not
 * throw. Exactly one of `answered`, `failed` and `ended` is called, once, and ends the call.
 */
export interface PendingCall {
  /** The number of the call on the wire, or 0 when the call is not pending. */
  id: number;
  session: CallSession | undefined;
  /** The bytes of credit that come back with the answer. */
  credit: number;
  /** Whether the caller has given up. */
  isAbandoned: boolean;
  /** The answer has come. `r` is positioned at its beginning. */
  answered(r: Reader): void;
  /** The handler has thrown, or the message could not be delivered. */
  failed(error: Error): void;
  /** An item of the call's stream has come, of `size` bytes. */
  item(r: Reader, size: number): void;
  /** The stream has ended. */
  ended(): void;
}

const INDEX_BITS = 24;
const INDEX_MASK = (1 << INDEX_BITS) - 1;
const GENERATION_STEP = 1 << INDEX_BITS;
/** The largest call number. Call numbers stay small integers in V8. */
const MAX_CALL_ID = 0x7fff_ffff;

export class PendingCalls {
  /** The pending calls, by index. */
  readonly #calls: (PendingCall | undefined)[] = [];
  /** The number of the next call, by index. */
  readonly #nextIds: number[] = [];
  readonly #free: number[] = [];

  /** The number of calls that have not ended, abandoned calls included. */
  get size(): number {
    return this.#nextIds.length - this.#free.length;
  }

  add(call: PendingCall, session: CallSession): void {
    const index = this.#free.length > 0 ? this.#free.pop()! : this.#grow();
    call.id = this.#nextIds[index]!;
    call.session = session;
    this.#calls[index] = call;
  }

  /** Returns the call with a number, or undefined if that call has ended. */
  find(id: number): PendingCall | undefined {
    const call = this.#calls[(id & INDEX_MASK) - 1];
    return call !== undefined && call.id === id ? call : undefined;
  }

  /** Removes a call, whose number is invalid from now on. */
  remove(call: PendingCall): void {
    const { id } = call;
    const index = (id & INDEX_MASK) - 1;
    this.#calls[index] = undefined;
    this.#nextIds[index] = (id + GENERATION_STEP) & MAX_CALL_ID;
    this.#free.push(index);
    call.id = 0;
  }

  /** Returns all calls that have not ended, in no particular order. */
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
