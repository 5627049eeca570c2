/**
 * The calls that one link waits on: records in an array, named on the wire by their index and a generation, so that an
 * answer that comes twice finds nobody. Every call is ended by exactly one frame of its receiver, or by the end of the
 * link; a caller that gave up leaves its record here until then.
 */
import type { Reader } from "../wire/reader.js";
import type { Session } from "./session.js";

/** Who waits for the answers of one or more ranks. None of these throws; `answered`, `failed` and `ended` end a call. */
export interface CallTarget {
  /** The answer has come; `r` stands at its message. */
  answered(rank: number, r: Reader): void;
  /** The handler has thrown, or the message could not be delivered. */
  failed(rank: number, error: Error): void;
  /** One item of the stream of a call, of `size` bytes. */
  item(call: PendingCall, r: Reader, size: number): void;
  /** The stream has ended. */
  ended(rank: number): void;
}

/** Nobody waits any more. */
export const abandoned: CallTarget = { answered() {}, failed() {}, item() {}, ended() {} };

export class PendingCall {
  /** Its name on the wire; never 0. */
  id: number;
  target: CallTarget = abandoned;
  session: Session | undefined;
  /** Bytes of credit that come back with the answer. */
  credit = 0;
  /** Of the receiver, in the mesh that was addressed. */
  rank = 0;
  next: PendingCall | undefined;

  constructor(id: number) {
    this.id = id;
  }
}

const INDEX_BITS = 24;
const INDEX_MASK = (1 << INDEX_BITS) - 1;
const ONE_GENERATION = 1 << INDEX_BITS;
/** Names stay small integers. */
const LARGEST = 0x7fff_ffff;

export class PendingCalls {
  readonly #records: PendingCall[] = [];
  #free: PendingCall | undefined;
  #size = 0;

  /** Calls that have not ended, abandoned ones included. */
  get size(): number {
    return this.#size;
  }

  add(target: CallTarget, session: Session, credit: number, rank: number): PendingCall {
    let call = this.#free;
    if (call === undefined) call = this.#grow();
    else this.#free = call.next;
    call.target = target;
    call.session = session;
    call.credit = credit;
    call.rank = rank;
    this.#size++;
    return call;
  }

  /** The call that a frame names. */
  find(id: number): PendingCall | undefined {
    const call = this.#records[(id & INDEX_MASK) - 1];
    return call !== undefined && call.id === id && call.session !== undefined ? call : undefined;
  }

  /** Ends a call: its name is not valid any more. */
  remove(call: PendingCall): void {
    call.id = (call.id + ONE_GENERATION) & LARGEST;
    call.target = abandoned;
    call.session = undefined;
    call.next = this.#free;
    this.#free = call;
    this.#size--;
  }

  /** All calls that have not ended, oldest records first. */
  all(): PendingCall[] {
    return this.#records.filter((call) => call.session !== undefined);
  }

  #grow(): PendingCall {
    const index = this.#records.length + 1;
    if (index > INDEX_MASK) throw new RangeError(`cannot call: ${INDEX_MASK} calls are pending on this link`);
    const call = new PendingCall(index);
    this.#records.push(call);
    return call;
  }
}
