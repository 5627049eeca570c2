/**
 * The consuming side of a stream: yields the values of all ranks in the order of arrival, each with its position. Credit
 * bounds the values of each rank that have arrived and were not taken. Taking values returns credit. Leaving the loop stops
 * the senders.
 */
import type { Clock } from "../../link/clock.js";
import type { Point } from "../../shape/index.js";
import type { Codec } from "../../wire/codec.js";
import { decodeValue } from "../../wire/protobuf-messages.js";
import type { Reader } from "../../wire/reader.js";
import { ownReceivedPorts, portsRead } from "../port/announce-holders.js";
import { isProgramEnding } from "../program-end.js";
import type { MeshView } from "../reference/mesh-view.js";
import type { OutstandingCall } from "../reference/outstanding-call.js";
import type { AnswerSink } from "./answer-sink.js";
import { errorForCaller } from "./call-future.js";
import { CallGuard } from "./call-guard.js";
import { describeWait } from "./describe-wait.js";
import { RankCall } from "./rank-call.js";
import { ResultReaders } from "./result-readers.js";

/** Credit is returned in batches of a window divided by this number. */
const BATCHES_PER_WINDOW = 4;
/** The index of "left" in `cancelReasons`. */
export const LEFT_REASON = 2;

/** The stream of one actor. */
class RankStream extends RankCall {
  /** The items and bytes that have been taken, and whose credit has not been returned. */
  items = 0;
  bytes = 0;
}

interface ArrivedItem {
  readonly rank: number;
  readonly value: unknown;
  /** The size in bytes. 0 for the answer of a call, which has no credit. */
  readonly size: number;
}

export class StreamCall
  implements AsyncIterableIterator<[Point, unknown], undefined, unknown>, AnswerSink, OutstandingCall
{
  /** The called endpoint: `counters.watch`. */
  readonly label: string;
  turn: OutstandingCall["turn"];
  readonly #codec: Codec<unknown> | undefined;
  readonly #view: MeshView;
  readonly #sources: (RankStream | undefined)[] = [];
  #arrived: ArrivedItem[] = [];
  #head = 0;
  readonly #readers = new ResultReaders<[Point, unknown]>(() => this.#take());
  #remaining: number;
  #guard: CallGuard | undefined;
  #isOver = false;
  /** Called when all ranks have ended, or the stream has been abandoned. */
  onFinished: (() => void) | undefined;

  constructor(label: string, codec: Codec<unknown> | undefined, view: MeshView) {
    this.label = label;
    this.#codec = codec;
    this.#view = view;
    this.#remaining = view.size;
    if (view.size === 0) this.#readers.end();
  }

  guard(clock: Clock, timeout: number, signal: AbortSignal | undefined): void {
    this.#guard = new CallGuard(this, this.label, clock, timeout, signal, () => this.waitText);
  }

  get waitText(): string {
    return this.turn === undefined ? "" : describeWait(this.turn, this.label, this.#view);
  }

  callAt(rank: number): RankCall {
    const source = new RankStream(this, rank);
    this.#sources[rank] = source;
    return source;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<[Point, unknown], undefined>> {
    return this.#readers.next();
  }

  /** Stops the senders, because the consumer has left the loop. */
  return(): Promise<IteratorResult<[Point, unknown], undefined>> {
    this.#stopSenders(LEFT_REASON);
    this.#arrived = [];
    this.#head = 0;
    return this.#readers.leave();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.return().then(() => undefined);
  }

  /** @param reason an index of `cancelReasons` */
  abandon(error: unknown, reason: number): void {
    this.#fail(error, reason);
  }

  answered(rank: number, r: Reader): void {
    this.#arrive(rank, r, 0);
    this.#rankEnded(rank);
  }

  item(call: RankCall, r: Reader, size: number): void {
    this.#arrive(call.rank, r, size);
  }

  ended(rank: number): void {
    this.#rankEnded(rank);
  }

  failed(rank: number, error: Error): void {
    this.#sources[rank] = undefined;
    this.#fail(errorForCaller({ label: this.label, view: this.#view }, rank, error), LEFT_REASON);
  }

  #arrive(rank: number, r: Reader, size: number): void {
    if (this.#isOver) return;
    let value: unknown;
    try {
      value = this.#codec === undefined ? undefined : decodeValue(this.#codec, r);
      if (portsRead.length > 0) ownReceivedPorts(this.#sources[rank]?.session);
    } catch (error) {
      this.#fail(error, LEFT_REASON);
      return;
    }
    this.#arrived.push({ rank, value, size });
    this.#readers.serve();
  }

  /** Takes the oldest value that has arrived. */
  #take(): [Point, unknown] | undefined {
    const arrived = this.#arrived[this.#head];
    if (arrived === undefined) return undefined;
    const { rank, value, size } = arrived;
    this.#head++;
    if (this.#head === this.#arrived.length) {
      this.#arrived = [];
      this.#head = 0;
    }
    const source = this.#sources[rank];
    if (source !== undefined && size > 0) returnCredit(source, size);
    return [this.#view.point(rank), value];
  }

  #rankEnded(rank: number): void {
    this.#sources[rank] = undefined;
    if (--this.#remaining > 0) return;
    this.#finish();
    this.#readers.end();
  }

  /** Removes the limits of the call, because all ranks have ended or the stream has been abandoned. */
  #finish(): void {
    this.#guard?.dispose();
    this.turn?.removeOutstanding(this);
    this.onFinished?.();
  }

  #fail(error: unknown, reason: number): void {
    if (this.#isOver || this.#remaining === 0) return;
    if (isProgramEnding() && this.turn === undefined) return;
    this.#stopSenders(reason);
    this.#readers.fail(error);
  }

  /** Abandons the streams of all ranks that have not ended. */
  #stopSenders(reason: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#finish();
    for (const [rank, source] of this.#sources.entries()) {
      if (source === undefined) continue;
      this.#sources[rank] = undefined;
      source.abandon(reason);
    }
  }
}

function returnCredit(source: RankStream, size: number): void {
  source.items++;
  source.bytes += size;
  const link = source.session?.link;
  if (link === undefined) return;
  const { streamItems, streamBytes } = link.limits;
  if (source.items * BATCHES_PER_WINDOW < streamItems && source.bytes * BATCHES_PER_WINDOW < streamBytes) return;
  if (source.id !== 0) link.sendStreamCredit(source.id, source.items, source.bytes);
  source.items = 0;
  source.bytes = 0;
}
