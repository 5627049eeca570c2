/**
 * The answers of several actors to one call: collected by rank, then folded into what the adverb promises. Answers of
 * equal bytes are decoded once and share their value.
 */
import { copyBytes } from "../link/frame.js";
import { type Extent, type Region, ValueMesh } from "../shape/index.js";
import type { Codec } from "../wire/codec.js";
import { decodeValue } from "../wire/protobuf-messages.js";
import type { Reader } from "../wire/reader.js";
import { type Called, CallFuture, callError } from "./call-future.js";
import type { Cell } from "./cell.js";
import type { CallSink, ManySink } from "./dispatch.js";
import { ActorError, SupervisionError } from "./errors.js";
import { holdReceived, portsRead } from "./holders.js";
import { awaitAsPromise } from "./plain-promise.js";
import { RankCall } from "./rank-call.js";
import type { MeshView } from "./view.js";

/** The outcome of a call on one rank. */
export type Settled<T> =
  | { readonly status: "fulfilled"; readonly value: T }
  | { readonly status: "rejected"; readonly reason: Error };

/** Stands for an answer that is part of the one before it. */
const folded = Symbol("folded");

/** Distinct answers that later ones are compared with. */
const COMPARED = 4;

/** Answers seen, as bytes and decoded, so that equal bytes are decoded once. */
class Decoded {
  readonly #codec: Codec<unknown>;
  readonly #seen: { readonly bytes: Uint8Array; readonly protobuf: boolean; readonly value: unknown }[] = [];

  constructor(codec: Codec<unknown>) {
    this.#codec = codec;
  }

  /** The value of the message that `r` stands at. */
  take(r: Reader): unknown {
    if (r.blocks !== undefined) return decodeValue(this.#codec, r);
    const { protobuf } = r;
    const bytes = r.bytes.subarray(r.position, r.end);
    for (const seen of this.#seen) {
      if (seen.protobuf === protobuf && Buffer.compare(seen.bytes, bytes) === 0) return seen.value;
    }
    const copy = copyBytes(bytes, 0, bytes.length);
    const value = decodeValue(this.#codec, r);
    if (this.#seen.unshift({ bytes: copy, protobuf, value }) > COMPARED) this.#seen.pop();
    return value;
  }
}

export abstract class Gather<T> extends CallFuture<T> implements CallSink, ManySink {
  protected readonly view: MeshView;
  /** By rank, in the mesh that was called. */
  protected readonly outcomes: unknown[];
  /** Errors that handlers threw, and what else counts as an outcome. */
  protected errors: Map<number, Error> | undefined;
  readonly #decoded: Decoded | undefined;
  readonly #calls: RankCall[] = [];
  #cancel: ((reason: number) => void) | undefined;
  #sender: Cell | undefined;
  #remaining: number;

  constructor(called: Called, view: MeshView) {
    super(called);
    const codec = called.result;
    this.view = view;
    this.outcomes = new Array(view.size).fill(undefined);
    this.#decoded = codec === undefined ? undefined : new Decoded(codec);
    this.#remaining = view.size;
  }

  callAt(rank: number): RankCall {
    const call = new RankCall(this, rank);
    this.#calls.push(call);
    return call;
  }

  get many(): ManySink {
    return this;
  }

  began(cancel: (reason: number) => void, sender: Cell): void {
    this.#cancel = cancel;
    this.#sender = sender;
  }

  answeredBy(ranks: readonly number[], r: Reader): void {
    if (this.settled) return;
    try {
      const value = this.#decoded?.take(r);
      if (portsRead.length > 0) this.#sender?.holdPorts();
      for (const rank of ranks) this.outcomes[rank] = value;
    } catch (error) {
      for (const rank of ranks) this.#noteError(rank, error as Error);
    }
    for (let left = ranks.length; left > 0; left--) this.#one();
  }

  /** How procs on the way make answers one, by name; empty: they do not. */
  readonly reduction: string = "";

  foldedBy(ranks: readonly number[], r: Reader): void {
    this.answeredBy(ranks.slice(0, 1), r);
    for (const rank of ranks.slice(1)) {
      this.outcomes[rank] = folded;
      this.#one();
    }
  }

  reset(): void {
    if (this.settled) return;
    this.outcomes.fill(undefined);
    this.errors = undefined;
    this.#remaining = this.view.size;
  }

  /** All messages have been sent. */
  started(): void {
    if (this.#remaining === 0 && !this.settled) this.finish();
  }

  answered(rank: number, r: Reader): void {
    if (this.settled) return;
    try {
      this.outcomes[rank] = this.#decoded?.take(r);
      if (portsRead.length > 0) holdReceived(this.#calls[0]?.session);
    } catch (error) {
      this.#noteError(rank, error as Error);
    }
    this.#one();
  }

  failed(rank: number, error: Error): void {
    if (this.settled) return;
    const told = callError(this.called, rank, error);
    if (told instanceof SupervisionError && !this.keepsFailures) {
      this.fail(told, true);
      return;
    }
    this.#noteError(rank, told);
    this.#one();
  }

  item(): void {}

  ended(): void {}

  /** Whether the failure of an actor is an outcome like others; otherwise it ends the call at once. */
  protected abstract readonly keepsFailures: boolean;

  /** All ranks have an outcome. */
  protected abstract finish(): void;

  /** Fails with the error of the lowest rank. @returns whether there was one */
  protected failByRank(): boolean {
    if (this.errors === undefined) return false;
    const sorted = [...this.errors].sort(([a], [b]) => a - b).map(([, error]) => error);
    const [first, ...others] = sorted as [Error, ...Error[]];
    if (!(first instanceof ActorError)) this.fail(first, false);
    else this.fail(first.among(others.filter((error) => error instanceof ActorError)), false);
    return true;
  }

  protected override release(reason: number): void {
    this.#cancel?.(reason);
    for (const call of this.#calls) call.abandon(reason);
  }

  #noteError(rank: number, error: Error): void {
    this.errors ??= new Map();
    this.errors.set(rank, error);
  }

  #one(): void {
    if (--this.#remaining === 0) this.finish();
  }
}

function valuesOf<T, D extends string>({ answers, extent }: MeshView, values: readonly T[]): ValueMesh<T, D> {
  return ValueMesh.inRegion(answers as Region<D>, extent as Extent<D>, values);
}

/** `call`: all answers, by rank. */
export class CallAll<R, D extends string> extends Gather<ValueMesh<R, D>> {
  static {
    awaitAsPromise(CallAll);
  }
  protected readonly keepsFailures = false;

  protected finish(): void {
    if (!this.failByRank()) this.fulfil(valuesOf(this.view, this.outcomes as R[]));
  }
}

/** `callSettled`: all outcomes, by rank. */
export class CallSettled<R, D extends string> extends Gather<ValueMesh<Settled<R>, D>> {
  static {
    awaitAsPromise(CallSettled);
  }
  protected readonly keepsFailures = true;

  protected finish(): void {
    const settled = this.outcomes.map((value, rank): Settled<R> => {
      const reason = this.errors?.get(rank);
      return reason === undefined ? { status: "fulfilled", value: value as R } : { status: "rejected", reason };
    });
    this.fulfil(valuesOf(this.view, settled));
  }
}

/** `reduce`: one answer made of all, folded in rank order. */
export class Reduce<R, X> extends Gather<X> {
  static {
    awaitAsPromise(Reduce);
  }
  protected readonly keepsFailures = false;
  readonly #fold: (values: readonly R[]) => X;
  override readonly reduction: string;

  /** @param reduction by which procs on the way can fold parts of it; empty: they cannot */
  constructor(called: Called, view: MeshView, fold: (values: readonly R[]) => X, reduction: string) {
    super(called, view);
    this.#fold = fold;
    this.reduction = reduction;
  }

  protected finish(): void {
    if (this.failByRank()) return;
    try {
      this.fulfil(this.#fold(this.outcomes.filter((value) => value !== folded) as R[]));
    } catch (error) {
      this.fail(error, false);
    }
  }
}
