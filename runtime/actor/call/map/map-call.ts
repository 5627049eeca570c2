/**
 * `map`: spreads items over the actors of a mesh. Each actor has a few items at a time, so that items are taken from their
 * source no faster than they are handled and their results taken. The items of an actor that fails are given to others if
 * the endpoint is `@idempotent`.
 */
import { offAbort, onAbort } from "../../../abort-listeners.js";
import { type AnyTurn, currentCell, currentTurn, runInTurn } from "../../context.js";
import { ActorError, BackpressureError, SupervisionError, TimeoutError } from "../../errors.js";
import { isProgramEnding } from "../../program-end.js";
import type { OutstandingCall } from "../../reference/outstanding-call.js";
import { describeWait } from "../describe-wait.js";
import type { Dispatcher } from "../dispatcher.js";
import { allRanks } from "../receivers.js";
import { ResultReaders } from "../result-readers.js";
import { SingleCall } from "../single-call.js";
import { LEFT_REASON } from "../stream-call.js";
import { ItemSource } from "./item-source.js";
import { type CheckedMapOptions, checkMapOptions, type MapItems, type MapOptions } from "./map-options.js";
import { MapItem, MapResults } from "./map-results.js";
import { RankPool } from "./rank-pool.js";

/**
 * The number of items that are taken before their results are: so many for each call that may be under way, and with
 * `ordered` at least `ITEMS_IN_ORDER`, so that the other ranks have work while one holds up the results.
 */
const ITEMS_PER_CALL = 4;
const ITEMS_IN_ORDER = 1024;
type Pair = [item: unknown, value: unknown];

export class MapCall implements AsyncIterableIterator<Pair, undefined, unknown>, OutstandingCall {
  turn: OutstandingCall["turn"];
  readonly #to: Dispatcher;
  readonly #options: CheckedMapOptions;
  /** Whether the errors of items are results. */
  readonly #isSettled: boolean;
  /** The turn that has made the `map`. The calls belong to it, whoever takes the results. */
  readonly #creator: AnyTurn | undefined = currentTurn();
  readonly #source: ItemSource;
  readonly #ranks: RankPool;
  readonly #results: MapResults;
  readonly #mostItems: number;
  readonly #readers = new ResultReaders<Pair>(() => this.#takeResult());
  /** The calls under way, each with its item. */
  readonly #calls = new Map<SingleCall<unknown>, MapItem>();
  /** The items without an answer, in the order in which they were taken. */
  readonly #pending = new Set<MapItem>();
  /** The items that are given to an actor again, before new ones are taken. */
  readonly #again: MapItem[] = [];
  /** The ranks that a call could not be sent to because the window of the sender was full. */
  #congested: number[] = [];
  #done = 0;
  #retried = 0;
  #isStarted = false;
  /** Whether no more items are given to actors. */
  #isOver = false;
  readonly #giveItemsHere = (): void => this.#giveItems();
  readonly #onAbort = (): void => this.#fail(this.#options.signal?.reason, 0);

  /**
   * @param isSettled whether the errors of items are results
   * @throws {TypeError} when an option is wrong or `items` is no iterable
   * @throws {RangeError} when a number is out of range, or the mesh is empty
   */
  constructor(to: Dispatcher, items: MapItems<unknown>, options: MapOptions, isSettled: boolean) {
    const { label, descriptor, view } = to;
    const { retry } = to.options;
    const attempts = typeof retry === "object" ? retry.attempts : retry;
    this.#options = checkMapOptions({ label, isIdempotent: descriptor.idempotent, attempts }, options);
    if (view.size === 0) throw new RangeError("map requires at least 1 actor, but mesh has 0");
    this.#to = to;
    this.#isSettled = isSettled;
    const { inFlight, ordered } = this.#options;
    this.#results = new MapResults(ordered);
    this.#mostItems = Math.max(view.size * inFlight * ITEMS_PER_CALL, ordered ? ITEMS_IN_ORDER : 0);
    this.#ranks = new RankPool(view, currentCell(), inFlight, {
      rankBack: () => this.#resume(),
      allLost: () => this.#fail(this.#nobodyLives(), LEFT_REASON),
    });
    this.#source = new ItemSource(label, items, {
      itemsReady: () => this.#resume(),
      itemsFailed: (error) => this.#fail(error, LEFT_REASON),
    });
  }

  get label(): string {
    return this.#to.label;
  }

  get waitText(): string {
    return this.turn === undefined ? "" : describeWait(this.turn, this.label, this.#to.view);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Pair, undefined>> {
    if (!this.#isStarted) this.#start();
    const result = this.#readers.next();
    // A result that was taken makes room for further items.
    this.#resume();
    return result;
  }

  /** Cancels the calls under way, because the consumer has left the loop. */
  return(): Promise<IteratorResult<Pair, undefined>> {
    this.#isStarted = true;
    this.#end(LEFT_REASON);
    this.#results.clear();
    return this.#readers.leave();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.return().then(() => undefined);
  }

  /** @param reason an index of `cancelReasons` */
  abandon(error: unknown, reason: number): void {
    this.#fail(error, reason);
  }

  #start(): void {
    this.#isStarted = true;
    const { signal } = this.#options;
    if (signal?.aborted === true) {
      this.#fail(signal.reason, 0);
      return;
    }
    if (signal !== undefined) onAbort(signal, this.#onAbort);
    this.#creator?.addOutstanding(this);
    this.#resume();
  }

  /** Gives items to actors, and results to the consumer. */
  #resume(): void {
    if (this.#isOver) return;
    if (this.#creator === undefined) this.#giveItems();
    else runInTurn(this.#creator, this.#giveItemsHere);
    // The results that are taken make room for further items.
    if (this.#readers.serve()) this.#resume();
  }

  #giveItems(): void {
    while (!this.#isOver) {
      const rank = this.#ranks.take();
      if (rank === undefined) break;
      const item = this.#again.shift() ?? this.#takeItem();
      if (item === undefined) {
        this.#ranks.putBack(rank);
        break;
      }
      this.#send(item, rank);
    }
    if (this.#isOver || !this.#source.isAtEnd || this.#pending.size > 0) return;
    this.#end(0);
    this.#readers.end();
  }

  #takeResult(): Pair | undefined {
    const result = this.#results.take();
    return result === undefined ? undefined : [result.item, result.value];
  }

  /** Takes a new item from the source, if there is one and not too many results are outstanding. */
  #takeItem(): MapItem | undefined {
    if (this.#results.outstanding >= this.#mostItems) return undefined;
    const taken = this.#source.take();
    if (taken === undefined) return undefined;
    const item = new MapItem(taken.item);
    this.#pending.add(item);
    this.#results.add(item);
    return item;
  }

  #send(item: MapItem, rank: number): void {
    const to = this.#to;
    const call = new SingleCall<unknown>(to, rank);
    try {
      const args = this.#options.args(item.item);
      to.check(args);
      const refused = to.callOne(args, rank, call, call);
      if (refused !== undefined) throw refused;
    } catch (error) {
      this.#notSent(item, rank, error);
      return;
    }
    item.attempts++;
    this.#calls.set(call, item);
    const { signal } = to.options;
    if (to.timeout > 0 || signal !== undefined) call.guard(to.timeout, signal);
    call.then(
      (value) => this.#answered(call, rank, value),
      (error) => this.#failed(call, rank, error),
    );
  }

  #notSent(item: MapItem, rank: number, error: unknown): void {
    if (error instanceof BackpressureError && this.#calls.size > 0) {
      // The place of the rank becomes free with the next answer.
      this.#congested.push(rank);
      this.#again.unshift(item);
      return;
    }
    this.#ranks.release(rank);
    this.#itemFailed(item, error);
  }

  #answered(call: SingleCall<unknown>, rank: number, value: unknown): void {
    const item = this.#calls.get(call);
    if (item === undefined) return;
    this.#callEnded(call, rank);
    this.#itemDone(item, this.#isSettled ? { status: "fulfilled", value } : value);
    this.#resume();
  }

  #failed(call: SingleCall<unknown>, rank: number, error: unknown): void {
    const item = this.#calls.get(call);
    if (item === undefined) return;
    this.#callEnded(call, rank);
    const isTransient = error instanceof SupervisionError || error instanceof TimeoutError;
    if (isTransient && item.attempts < this.#options.attempts) {
      this.#retried++;
      this.#again.push(item);
    } else this.#itemFailed(item, error);
    if (error instanceof SupervisionError) this.#ranks.rankFailed(rank);
    this.#resume();
  }

  #callEnded(call: SingleCall<unknown>, rank: number): void {
    this.#calls.delete(call);
    this.#ranks.release(rank);
    if (this.#congested.length === 0) return;
    for (const other of this.#congested) this.#ranks.release(other);
    this.#congested = [];
  }

  #itemFailed(item: MapItem, error: unknown): void {
    if (this.#isSettled) this.#itemDone(item, { status: "rejected", reason: error });
    else this.#fail(error, LEFT_REASON);
  }

  #itemDone(item: MapItem, value: unknown): void {
    this.#pending.delete(item);
    this.#results.answered(item, value);
    this.#done++;
    const { onProgress } = this.#options;
    if (onProgress === undefined) return;
    try {
      onProgress({ done: this.#done, inFlight: this.#calls.size, retried: this.#retried });
    } catch (error) {
      this.#fail(error, LEFT_REASON);
    }
  }

  #nobodyLives(): SupervisionError {
    const { view, label } = this.#to;
    const ranks = allRanks(view);
    const why = "no actor is left that could take the items, and none is being restarted";
    return new SupervisionError(label, ranks, why, { actors: view.actorNames(ranks) });
  }

  /** @param reason an index of `cancelReasons` */
  #fail(error: unknown, reason: number): void {
    if (this.#isOver || (isProgramEnding() && this.turn === undefined)) return;
    if (error instanceof SupervisionError || error instanceof ActorError || error instanceof TimeoutError) {
      error.pending = [...this.#pending].map(({ item }) => item);
    }
    this.#end(reason);
    this.#results.giveUpUnanswered();
    this.#readers.fail(error);
  }

  /**
   * Gives no more items to actors, and cancels the calls under way. Idempotent.
   *
   * @param reason an index of `cancelReasons`
   */
  #end(reason: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#options.signal !== undefined) offAbort(this.#options.signal, this.#onAbort);
    this.turn?.removeOutstanding(this);
    this.#ranks.close();
    this.#source.close();
    const calls = [...this.#calls.keys()];
    this.#calls.clear();
    const error = new DOMException("the loop over the results has ended", "AbortError");
    for (const call of calls) call.abandon(error, reason, true);
  }
}
