/**
 * Calls of several actors: collects the answers by rank, then combines them into the result of the adverb. Answers with
 * equal bytes are decoded once and share their value.
 */
import { copyBytes } from "../../link/frame/frame.js";
import { awaitAsPromise } from "../../plain-promise.js";
import { type Extent, type Region, ValueMesh } from "../../shape/index.js";
import type { Codec } from "../../wire/codec.js";
import { decodeValue } from "../../wire/protobuf-messages.js";
import type { Reader } from "../../wire/reader.js";
import { ActorError, SupervisionError } from "../errors.js";
import { ownReceivedPorts, portsRead } from "../port/announce-holders.js";
import type { MeshView } from "../reference/mesh-view.js";
import type { PortOwner } from "../reference/open-port.js";
import type { AnswerSink, CastAnswerSink } from "./answer-sink.js";
import { type CalledEndpoint, CallFuture, errorForCaller } from "./call-future.js";
import { RankCall } from "./rank-call.js";

/** The outcome of a call on one rank. */
export type Settled<T> =
  | { readonly status: "fulfilled"; readonly value: T }
  | { readonly status: "rejected"; readonly reason: Error };

/** Stands for the answer of a rank that a proc of the tree has combined with the answer before it. */
const foldedIntoPrevious = Symbol("folded");

/** The number of distinct answers that later answers are compared with. */
const MOST_COMPARED = 4;

/** Answers up to this number of bytes are compared in a loop, since a native call and a view of the bytes take longer. */
const MAX_LOOPED_BYTES = 64;

/** Decodes answers. Equal bytes are decoded once. */
class AnswerDecoder {
  readonly #codec: Codec<unknown>;
  readonly #seen: { readonly bytes: Uint8Array; readonly protobuf: boolean; readonly value: unknown }[] = [];

  constructor(codec: Codec<unknown>) {
    this.#codec = codec;
  }

  /** Decodes the message at the position of `r`. */
  decode(r: Reader): unknown {
    if (r.blocks !== undefined) return decodeValue(this.#codec, r);
    const { protobuf, bytes, position, end } = r;
    for (const seen of this.#seen) {
      if (seen.protobuf === protobuf && isEqual(seen.bytes, bytes, position, end)) return seen.value;
    }
    const copy = copyBytes(bytes, position, end);
    const value = decodeValue(this.#codec, r);
    if (this.#seen.unshift({ bytes: copy, protobuf, value }) > MOST_COMPARED) this.#seen.pop();
    return value;
  }
}

/** Returns whether `bytes` has the content `known` in `[start, end)`. */
function isEqual(known: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  const size = end - start;
  if (known.length !== size) return false;
  if (size > MAX_LOOPED_BYTES) return Buffer.compare(known, bytes.subarray(start, end)) === 0;
  for (let i = 0; i < size; i++) if (known[i] !== bytes[start + i]) return false;
  return true;
}

export abstract class GatherCall<T> extends CallFuture<T> implements AnswerSink, CastAnswerSink {
  protected readonly view: MeshView;
  /** The answers by rank, as numbered in the called mesh or slice. */
  protected readonly outcomes: unknown[];
  /** The errors by rank: of handlers, of decoding, and failures of actors if `acceptsFailures` is true. */
  protected errors: Map<number, Error> | undefined;
  readonly #decoded: AnswerDecoder | undefined;
  readonly #calls: RankCall[] = [];
  #cancel: ((reason: number) => void) | undefined;
  #ports: PortOwner | undefined;
  #remaining: number;

  constructor(called: CalledEndpoint, view: MeshView) {
    super(called);
    const codec = called.result;
    this.view = view;
    this.outcomes = new Array(view.size).fill(undefined);
    this.#decoded = codec === undefined ? undefined : new AnswerDecoder(codec);
    this.#remaining = view.size;
  }

  callAt(rank: number): RankCall {
    const call = new RankCall(this, rank);
    this.#calls.push(call);
    return call;
  }

  get castSink(): CastAnswerSink {
    return this;
  }

  castStarted(cancel: (reason: number) => void, ports: PortOwner): void {
    this.#cancel = cancel;
    this.#ports = ports;
  }

  answeredBy(ranks: readonly number[], r: Reader): void {
    if (this.settled) return;
    try {
      const value = this.#decoded?.decode(r);
      if (portsRead.length > 0) this.#ports?.ownDecoded();
      for (const rank of ranks) this.outcomes[rank] = value;
    } catch (error) {
      for (const rank of ranks) this.#recordError(rank, error as Error);
    }
    for (let left = ranks.length; left > 0; left--) this.#countDown();
  }

  /** The name of the reduction by which procs of the tree combine answers. Empty: they combine none. */
  readonly reduction: string = "";

  foldedBy(ranks: readonly number[], r: Reader): void {
    this.answeredBy(ranks.slice(0, 1), r);
    for (const rank of ranks.slice(1)) {
      this.outcomes[rank] = foldedIntoPrevious;
      this.#countDown();
    }
  }

  reset(): void {
    if (this.settled) return;
    this.outcomes.fill(undefined);
    this.errors = undefined;
    this.#remaining = this.view.size;
  }

  /** Called when all messages have been sent. */
  allSent(): void {
    if (this.#remaining === 0 && !this.settled) this.finish();
  }

  answered(rank: number, r: Reader): void {
    if (this.settled) return;
    try {
      this.outcomes[rank] = this.#decoded?.decode(r);
      if (portsRead.length > 0) ownReceivedPorts(this.#calls[0]?.session);
    } catch (error) {
      this.#recordError(rank, error as Error);
    }
    this.#countDown();
  }

  failed(rank: number, error: Error): void {
    if (this.settled) return;
    const told = errorForCaller(this.called, rank, error);
    if (told instanceof SupervisionError && !this.acceptsFailures) {
      this.rejectWith(told, true);
      return;
    }
    this.#recordError(rank, told);
    this.#countDown();
  }

  item(): void {}

  ended(): void {}

  /** Whether the failure of an actor is the outcome of its rank. Otherwise it rejects the call at once. */
  protected abstract readonly acceptsFailures: boolean;

  /** Settles the call, because all ranks have an outcome. */
  protected abstract finish(): void;

  /** Rejects the call with the error of the lowest rank, if there is one. Returns whether the call was rejected. */
  protected rejectWithLowestRank(): boolean {
    if (this.errors === undefined) return false;
    const sorted = [...this.errors].sort(([a], [b]) => a - b).map(([, error]) => error);
    const [first, ...others] = sorted as [Error, ...Error[]];
    if (!(first instanceof ActorError)) this.rejectWith(first, false);
    else this.rejectWith(first.among(others.filter((error) => error instanceof ActorError)), false);
    return true;
  }

  protected override onAbandoned(reason: number): void {
    this.#cancel?.(reason);
    for (const call of this.#calls) call.abandon(reason);
  }

  #recordError(rank: number, error: Error): void {
    this.errors ??= new Map();
    this.errors.set(rank, error);
  }

  #countDown(): void {
    if (--this.#remaining === 0) this.finish();
  }
}

function valuesOf<T, D extends string>({ answerRegion, extent }: MeshView, values: readonly T[]): ValueMesh<T, D> {
  return ValueMesh.inRegion(answerRegion as Region<D>, extent as Extent<D>, values);
}

/** The call of the adverb `call`: its result has all answers by rank. */
export class GatherAll<R, D extends string> extends GatherCall<ValueMesh<R, D>> {
  static {
    awaitAsPromise(GatherAll);
  }
  protected readonly acceptsFailures = false;

  protected finish(): void {
    if (!this.rejectWithLowestRank()) this.fulfil(valuesOf(this.view, this.outcomes as R[]));
  }
}

/** The call of the adverb `callSettled`: its result has all outcomes by rank. */
export class GatherSettled<R, D extends string> extends GatherCall<ValueMesh<Settled<R>, D>> {
  static {
    awaitAsPromise(GatherSettled);
  }
  protected readonly acceptsFailures = true;

  protected finish(): void {
    const settled = this.outcomes.map((value, rank): Settled<R> => {
      const reason = this.errors?.get(rank);
      return reason === undefined ? { status: "fulfilled", value: value as R } : { status: "rejected", reason };
    });
    this.fulfil(valuesOf(this.view, settled));
  }
}

/** The call of the adverb `reduce`: its result combines all answers in rank order. */
export class GatherReduced<R, X> extends GatherCall<X> {
  static {
    awaitAsPromise(GatherReduced);
  }
  protected readonly acceptsFailures = false;
  readonly #fold: (values: readonly R[]) => X;
  override readonly reduction: string;

  /** @param reduction the name by which procs of the tree know the reduction; empty if they do not know it */
  constructor(called: CalledEndpoint, view: MeshView, fold: (values: readonly R[]) => X, reduction: string) {
    super(called, view);
    this.#fold = fold;
    this.reduction = reduction;
  }

  protected finish(): void {
    if (this.rejectWithLowestRank()) return;
    try {
      this.fulfil(this.#fold(this.outcomes.filter((value) => value !== foldedIntoPrevious) as R[]));
    } catch (error) {
      this.rejectWith(error, false);
    }
  }
}
