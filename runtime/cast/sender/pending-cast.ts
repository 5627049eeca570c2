/** A cast at its root, from the request until nothing is left to do for it. */
import type { DeliveryError } from "../../link/errors.js";
import { FrameFlag } from "../../link/frame/frame.js";
import type { EncodedMessage } from "../../link/outbound/encoded-message.js";
import type { CreditWaiter } from "../../link/outbound/session.js";
import { Reader } from "../../wire/reader.js";
import { type AnswerGroup, AnswerKind } from "../tree/answers.js";
import { CastFlag, type CastHead, type OrderPosition } from "../tree/cast-frame.js";
import { ranksOf } from "../tree/rank-runs.js";

/** The receiver of the answers to a cast. Its methods must not throw. */
export interface CastSink {
  /** Several ranks have given the same answer. `r` is positioned at its beginning. */
  answeredBy(ranks: readonly number[], r: Reader): void;
  failed(rank: number, error: Error): void;
  /** The answers of consecutive ranks have been combined into one value. */
  foldedBy(ranks: readonly number[], r: Reader): void;
  /** All answers so far are void, and will come again. */
  reset(): void;
}

export interface CastRequest {
  /** The name of the endpoint for errors, for example `counters.increment`. */
  readonly label: string;
  /** The index of the endpoint in its interface. */
  readonly endpoint: number;
  readonly body: EncodedMessage;
  /** The name of the reduction with which the procs of the tree combine answers, or empty if they cannot. */
  readonly reduction: string;
  readonly extension: CastHead["extension"];
  /** The receiver of the answers, or undefined if none are expected. */
  readonly sink: CastSink | undefined;
  readonly waiter: CreditWaiter | undefined;
}

export class PendingCast {
  readonly seq: number;
  request: CastRequest;
  positions: readonly OrderPosition[];
  /** The number of bytes of the message and its blocks. */
  readonly size: number;
  body: EncodedMessage;
  /** Whether all receivers have had credit for the cast, or have ended. */
  isTaken = false;
  /** Whether the cast expects answers. */
  isCall: boolean;
  /** Whether the cast has no message and only keeps its place in the order. */
  isEmpty = false;
  #answered: Uint8Array;
  #unanswered: number;

  /**
   * Creates a cast.
   * @param ranks the number of ranks of the view
   */
  constructor(seq: number, request: CastRequest, positions: readonly OrderPosition[], ranks: number) {
    this.seq = seq;
    this.request = request;
    this.positions = positions;
    this.body = request.body;
    this.size = request.body.size;
    this.isCall = request.sink !== undefined;
    this.#answered = new Uint8Array(this.isCall ? ranks : 0);
    this.#unanswered = this.#answered.length;
  }

  get flags(): number {
    if (this.isEmpty) return CastFlag.empty;
    return (this.isCall ? CastFlag.call : 0) | (this.body.isProtobuf ? FrameFlag.protobuf : 0);
  }

  /** Returns whether the answer of a rank has not come. */
  waitsFor(rank: number): boolean {
    return this.isCall && this.#answered[rank] === 0;
  }

  /** Whether all answers have come. */
  get isComplete(): boolean {
    return this.#unanswered === 0;
  }

  /** Adds answers. Answers that came before the tree was set up again are ignored. */
  addAnswers(groups: readonly AnswerGroup[], readError: (r: Reader) => Error): void {
    for (const group of groups) {
      const ranks = [...ranksOf(group.ranks)].filter((rank) => this.#noteAnswer(rank));
      if (ranks.length === 0) continue;
      const { bytes, blocks, isProtobuf } = group;
      const r = new Reader();
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      r.reset(bytes, view, 0, bytes.length, blocks.length === 0 ? undefined : blocks);
      r.protobuf = isProtobuf;
      if (group.kind === AnswerKind.folded) this.request.sink?.foldedBy(ranks, r);
      else if (group.kind === AnswerKind.value) this.request.sink?.answeredBy(ranks, r);
      else {
        const error = readError(r);
        for (const rank of ranks) this.request.sink?.failed(rank, error);
      }
    }
  }

  failed(rank: number, error: DeliveryError): void {
    if (this.#noteAnswer(rank)) this.request.sink?.failed(rank, error);
  }

  /**
   * Voids all answers, which will come again.
   * @returns whether answers are expected
   */
  reset(): boolean {
    if (!this.isCall || this.isComplete) return false;
    this.#answered.fill(0);
    this.#unanswered = this.#answered.length;
    this.request.sink?.reset();
    return true;
  }

  failAll(error: DeliveryError): void {
    for (const rank of this.#answered.keys()) this.failed(rank, error);
  }

  /** Drops the request and the message of a cast for which nobody waits. */
  makeEmpty(): void {
    this.isEmpty = true;
    this.isCall = false;
    this.dropBody();
  }

  /** Drops the message. */
  dropBody(): void {
    this.body = noBody;
  }

  /** All answers have come. The cast keeps only its place, until all actors are known to have received it. */
  releaseRequest(): void {
    this.dropBody();
    this.request = noRequest;
    this.positions = [];
    this.#answered = noBody.bytes;
  }

  #noteAnswer(rank: number): boolean {
    if (!this.waitsFor(rank)) return false;
    this.#answered[rank] = 1;
    this.#unanswered--;
    return true;
  }
}

const noBody: EncodedMessage = { bytes: new Uint8Array(0), blocks: [], size: 0, isProtobuf: false };
const noRequest: CastRequest = {
  label: "",
  endpoint: 0,
  body: noBody,
  reduction: "",
  extension: undefined,
  sink: undefined,
  waiter: undefined,
};
