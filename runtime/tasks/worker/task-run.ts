/** One run of a task in a worker process, from the order to the outcome. */
import type { TaskOrder, TaskOrigin, TaskOutcome } from "../../../generated/tasks.js";
import { type ContextScope, type RunningTask, runInTask } from "../context/current.js";
import type { ContextMember } from "../context/member.js";
import type { TaskImplementation } from "../function-registry.js";
import type { AnyTurn } from "../kernel.js";
import { decodeHeld, type HeldValue } from "../objects/held-value.js";
import { StoredValue } from "../objects/stored-value.js";
import type { ReturnedValue } from "../refs/member-references.js";
import { type ObjectRef, recordOf } from "../refs/object-ref.js";
import { failedArgument } from "../submit/failed-argument.js";
import { isThenable } from "../thenable.js";
import { decodeArguments } from "../values/index.js";
import { argumentCodec, resultCodec } from "../values-of-task.js";
import type { LeaseSlot, SlotTask } from "./lease-slot.js";

const nothing = new Uint8Array(0);
const returned: TaskOutcome = { state: "returned", value: nothing, micros: 0 };
const cancelled: TaskOutcome = { state: "cancelled", value: nothing, micros: 0 };

/** The time in ms after which a task that waits for its arguments lets others run: moving them takes time, too. */
const PATIENCE_MS = 1000;
/** The largest number of an order. */
const MAX_ORDER = 2 ** 32 - 1;

/** The parts of a worker that a run uses. */
export interface RunEnvironment {
  readonly context: object;
  readonly member: ContextMember;
  readonly slot: LeaseSlot;
  /** Returns the function with a number, which is loaded at its first use. */
  readonly find: (fn: number) => TaskImplementation | Promise<TaskImplementation>;
  /** Records that the task of the order with a number begins. */
  readonly begins: (order: number) => void;
  /** Keeps what the result of a task needs. Calls `close` when the receiver has it. */
  readonly keep: (id: number, close: () => void) => void;
  /** Returns the time in milliseconds. */
  readonly now: () => number;
}

export class TaskRun implements SlotTask, RunningTask, ContextScope {
  readonly id: number;
  #awaited: Map<number, number> | undefined;
  readonly chain: readonly TaskOrigin[];
  /** The turn of the message that has brought the order. The task runs in it, also if it begins when another one ends. */
  readonly #turn: AnyTurn;
  readonly #order: TaskOrder;
  readonly #environment: RunEnvironment;
  /** The outcome, or the error, of a task that has ended before its outcome was asked for. */
  #ended: { readonly outcome: TaskOutcome } | { readonly error: unknown } | undefined;
  #resolve: ((outcome: TaskOutcome) => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;
  #name = "a task";
  #abort: AbortController | undefined;
  #isCancelled = false;
  #waits = 0;
  /** The time of the start; undefined before. */
  #begin: number | undefined;

  constructor(order: TaskOrder, chain: readonly TaskOrigin[], environment: RunEnvironment, turn: AnyTurn) {
    this.id = order.id;
    this.#turn = turn;
    this.chain = chain;
    this.#order = order;
    this.#environment = environment;
  }

  /**
   * The outcome, which is read once. A task that has ended at once needs no promise.
   *
   * @throws what the task has thrown
   */
  get outcome(): TaskOutcome | Promise<TaskOutcome> {
    const ended = this.#ended;
    if (ended === undefined) {
      return new Promise((resolve, reject) => {
        this.#resolve = resolve;
        this.#reject = reject;
      });
    }
    if ("error" in ended) throw ended.error;
    return ended.outcome;
  }

  #answer(outcome: TaskOutcome): void {
    if (this.#resolve === undefined) this.#ended = { outcome };
    else this.#resolve(outcome);
  }

  get label(): string {
    return this.#name;
  }

  get awaited(): Map<number, number> {
    this.#awaited ??= new Map();
    return this.#awaited;
  }

  get context(): object {
    return this.#environment.context;
  }

  get task(): RunningTask {
    return this;
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#isCancelled) this.#abort.abort(this.#cancelReason());
    }
    return this.#abort.signal;
  }

  start(): void {
    this.#begin = this.#environment.now();
    let found: TaskImplementation | Promise<TaskImplementation>;
    let parts: readonly Uint8Array[];
    try {
      this.#environment.begins(this.#order.number ?? MAX_ORDER);
      found = this.#environment.find(this.#order.fn);
      parts = decodeArguments(this.#order.args);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (found instanceof Promise || this.#order.fetched !== undefined) void this.#startLater(found, parts);
    else this.#call(found, parts);
  }

  async #startLater(
    found: TaskImplementation | Promise<TaskImplementation>,
    parts: readonly Uint8Array[],
  ): Promise<void> {
    try {
      const implementation = await found;
      this.#name = implementation.task.name;
      const { fetched } = this.#order;
      this.#call(implementation, fetched === undefined ? parts : await this.#fetch(parts, fetched));
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Returns the arguments with those that their owners have had. */
  async #fetch(parts: readonly Uint8Array[], fetched: readonly number[]): Promise<readonly HeldValue[]> {
    const { member } = this.#environment;
    const refs = new Map(fetched.map((i) => [i, member.refs.read(parts[i]!)]));
    const values = Promise.all(
      parts.map(async (part, i) => {
        const ref = refs.get(i);
        if (ref === undefined) return part;
        try {
          return await member.valueOf(ref);
        } catch (error) {
          throw failedArgument(this.#name, i, ref.label, error as Error);
        }
      }),
    );
    const isHere = (ref: ObjectRef<unknown>) => recordOf(ref).result.isSettled;
    if ([...refs.values()].every(isHere)) return values;
    // Another task may have to make an argument again, and needs a process meanwhile.
    let isSuspended = false;
    const timer = member.clock.after(
      PATIENCE_MS,
      () => {
        isSuspended = true;
        this.suspend();
      },
      true,
    );
    try {
      return await values;
    } finally {
      timer.cancel();
      if (isSuspended) this.resume();
    }
  }

  #call({ task, run }: TaskImplementation, parts: readonly HeldValue[]): void {
    this.#name = task.name;
    if (this.#isCancelled) {
      this.#end(cancelled);
      return;
    }
    const { member } = this.#environment;
    let result: unknown;
    try {
      const args = parts.map((value, i) => decodeHeld(argumentCodec(task, i, member), value, this));
      result = runInTask(this.#turn, this, () => run(...args));
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (!isThenable(result)) {
      this.#finish(task, result);
      return;
    }
    Promise.resolve(result).then(
      (value) => this.#finish(task, value),
      (error: unknown) => this.#fail(error),
    );
  }

  #finish(task: TaskImplementation["task"], value: unknown): void {
    if (this.#isCancelled) {
      this.#end(cancelled);
      return;
    }
    const { member } = this.#environment;
    let returned: ReturnedValue;
    try {
      const place = { kind: "result", task: task.name } as const;
      const codec = resultCodec(task, member);
      const isStored = this.#order.limited !== true;
      returned = member.refs.returning(codec, value, place, isStored, this.chain[0]?.owner);
    } catch (error) {
      this.#fail(error);
      return;
    }
    const { bytes, hasReferences, taken } = returned;
    const micros = Math.round((this.#environment.now() - this.#begin!) * 1000);
    const isStored = bytes instanceof StoredValue;
    const outcome: TaskOutcome = {
      state: "done",
      value: isStored ? nothing : (bytes as Uint8Array),
      micros: Math.min(micros, 0xffff_ffff),
    };
    const stored = isStored ? (bytes as StoredValue) : undefined;
    if (stored !== undefined) outcome.stored = stored.memory!;
    if (hasReferences) outcome.references = true;
    if (stored !== undefined || taken !== undefined) {
      this.#environment.keep(this.id, () => {
        stored?.close();
        taken?.();
      });
    }
    this.#end(outcome);
  }

  #fail(error: unknown): void {
    if (this.#isCancelled) {
      this.#end(cancelled);
      return;
    }
    this.#leave(() => {
      if (this.#reject === undefined) this.#ended = { error };
      else this.#reject(error);
    });
  }

  #end(outcome: TaskOutcome): void {
    this.#leave(() => this.#answer(outcome));
  }

  /** Lets the next task run. The holder keeps the arguments until the owners of the references in them know that they are here. */
  #leave(answer: () => void): void {
    const { member, slot } = this.#environment;
    slot.ended(this.id);
    const borrowed = member.refs.untilBorrowed(this.chain[0]!.proc);
    if (borrowed === undefined) answer();
    else void borrowed.then(answer);
  }

  handBack(): void {
    this.#answer(returned);
  }

  cancel(): void {
    if (this.#begin === undefined) {
      this.#answer(cancelled);
      return;
    }
    this.#isCancelled = true;
    this.#abort?.abort(this.#cancelReason());
  }

  #cancelReason(): Error {
    return new DOMException(`task ${this.#name} was cancelled`, "AbortError");
  }

  suspend(): void {
    if (this.#waits++ > 0) return;
    const { member, slot } = this.#environment;
    member.waiting.add(this);
    slot.suspend();
  }

  resume(): void {
    if (--this.#waits > 0) return;
    const { member, slot } = this.#environment;
    member.waiting.delete(this);
    slot.resume();
  }
}
