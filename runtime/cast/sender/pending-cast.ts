/** A cast at its root, from when it was asked for until nothing of it is left to be done. */
import type { DeliveryError } from "../../link/errors.js";
import { FrameFlag } from "../../link/frame/frame.js";
import type { EncodedMessage } from "../../link/outbound/encoded-message.js";
import type { CreditWaiter } from "../../link/outbound/session.js";
import { Reader } from "../../wire/reader.js";
import { type AnswerGroup, AnswerKind } from "../tree/answers.js";
import { CastFlag, type CastHead, type OrderPosition } from "../tree/cast-frame.js";
import { ranksOf } from "../tree/rank-runs.js";

/** Who waits for the answers. None of these throws. */
export interface CastSink {
  /** The same answer of several ranks; `r` stands at it. */
  answeredBy(ranks: readonly number[], r: Reader): void;
  failed(rank: number, error: Error): void;
  /** One value made of the answers of ranks that follow each other. */
  foldedBy(ranks: readonly number[], r: Reader): void;
  /** Everything that has come is void: it comes again. */
  reset(): void;
}

export interface CastRequest {
  /** What is called, for people: `counters.increment`. */
  readonly label: string;
  /** The place of the endpoint in its interface. */
  readonly endpoint: number;
  readonly body: EncodedMessage;
  /** By which procs on the way can make answers one; empty: they cannot. */
  readonly reduction: string;
  readonly extension: CastHead["extension"];
  /** Undefined: nobody waits. */
  readonly sink: CastSink | undefined;
  readonly waiter: CreditWaiter | undefined;
}

export class PendingCast {
  readonly seq: number;
  request: CastRequest;
  positions: readonly OrderPosition[];
  /** Of the message and its blocks. */
  readonly size: number;
  body: EncodedMessage;
  /** All its receivers have had credit for it, or are no more. */
  isTaken = false;
  /** Whether somebody waits for answers. */
  isCall: boolean;
  /** It only keeps its place in the order. */
  isEmpty = false;
  #answered: Uint8Array;
  #unanswered: number;

  /** @param ranks of what is cast to */
  constructor(seq: number, request: CastRequest, places: readonly OrderPosition[], ranks: number) {
    this.seq = seq;
    this.request = request;
    this.positions = places;
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

  /** Whether the answer of a rank is still to come. */
  waitsFor(rank: number): boolean {
    return this.isCall && this.#answered[rank] === 0;
  }

  /** Whether all answers have come. */
  get isComplete(): boolean {
    return this.#unanswered === 0;
  }

  /** Answers that have come before, the tree having been set up again, are left out. */
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

  /** Everything that has come comes again. @returns whether anything is waited for */
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

  /** Nobody waits any more, and the message is not needed. */
  makeEmpty(): void {
    this.isEmpty = true;
    this.isCall = false;
    this.dropBody();
  }

  /** The message is not needed any more. */
  dropBody(): void {
    this.body = noBody;
  }

  /** All answers have come: until it is known to be taken it keeps its place, and nothing that was asked or answered. */
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
