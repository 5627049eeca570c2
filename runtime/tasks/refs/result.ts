/** The result of a task, as a process knows it: pending, a value here or elsewhere, or an error. */
import type { StoredMemory } from "../../../generated/tasks.js";
import { ObjectLostError } from "../errors.js";
import type { Copies } from "../objects/copies.js";
import { type HeldValue, headOfHeld, sizeOfHeld } from "../objects/held-value.js";
import { StoredValue } from "../objects/stored-value.js";
import type { Elsewhere } from "./elsewhere.js";

/** Called once, when a result has settled, or when its task has ended. */
export type ResultListener = () => void;

type Listeners = ResultListener | ResultListener[] | undefined;

/** Makes a lost result again. */
export interface Remaking {
  /**
   * Begins to do so.
   *
   * @param reason why the result is lost, for messages
   * @returns false if its task may not run again
   */
  remake(result: Result, reason: string): boolean;
}

/** The encoded value of a result, or its error. The value is not kept decoded: each `get` decodes it anew. */
export class Result {
  /** The number in the process that owns the result; 0 in other processes. */
  readonly id: number;
  /** The name of the task, for messages. */
  readonly label: string;
  #value: HeldValue | undefined;
  #error: Error | undefined;
  #elsewhere: Elsewhere | undefined;
  #settledListeners: Listeners;
  #doneListeners: Listeners;
  /** The references in the value. Their results are kept as long as this one. */
  contained: readonly object[] | undefined;
  /** The copies on other hosts, which the owner of the result knows. */
  copies: Copies | undefined;
  /** The number of other processes for which the owner keeps the result. */
  holders = 0;
  /** Makes the result again if it is lost. Undefined: that is not possible, or not necessary, because the value is small. */
  recipe: Remaking | undefined;
  /** Why the result is being made again. */
  #loss: string | undefined;

  /** @param elsewhere the value of another process */
  constructor(id: number, label: string, elsewhere?: Elsewhere) {
    this.id = id;
    this.label = label;
    this.#elsewhere = elsewhere;
  }

  /** Whether there is a value or an error here. */
  get isSettled(): boolean {
    return this.#value !== undefined || this.#error !== undefined;
  }

  /** Whether there is a value or an error, here or elsewhere: the task has ended. */
  get isDone(): boolean {
    return this.isSettled || this.#elsewhere?.size !== undefined;
  }

  /** Whether there is a value that this process does not have, or has been one that is made again now. */
  get isElsewhere(): boolean {
    return !this.isSettled && this.#elsewhere !== undefined;
  }

  /** The error; undefined while there is none. */
  get error(): Error | undefined {
    return this.#error;
  }

  /** The encoded value; undefined while there is none here. */
  get value(): HeldValue | undefined {
    return this.#value;
  }

  /** The value if it is in the memory of the machine, and this process has it open. */
  get stored(): StoredValue | undefined {
    return this.#value instanceof StoredValue ? this.#value : undefined;
  }

  /** The place of a value that another process or another host has; undefined: it was only here, or there is none. */
  get elsewhere(): Elsewhere | undefined {
    return this.#elsewhere;
  }

  /** The memory in which processes of one machine, which need not be this one, find the value. */
  get memory(): StoredMemory | undefined {
    // The owner keeps what it has stored for as long as somebody borrows it.
    return this.#elsewhere?.memory ?? this.stored?.memory;
  }

  /** The number of encoded bytes; undefined while it is not known. */
  get size(): number | undefined {
    return this.#value === undefined ? this.#elsewhere?.size : sizeOfHeld(this.#value);
  }

  /** The number of bytes before the binary values that can be mapped; undefined while it is not known. */
  get head(): number | undefined {
    return this.#value === undefined ? this.#elsewhere?.memory?.head : headOfHeld(this.#value);
  }

  /** Calls `listener` when the value or the error is here; at once if it is. A value that is elsewhere is fetched. */
  whenSettled(listener: ResultListener): void {
    if (this.isSettled) {
      listener();
      return;
    }
    this.#settledListeners = added(this.#settledListeners, listener);
    this.#elsewhere?.fetch();
  }

  /** Calls `listener` when there is a value or an error, here or elsewhere; at once if there is. */
  whenDone(listener: ResultListener): void {
    if (this.isDone) {
      listener();
      return;
    }
    this.#doneListeners = added(this.#doneListeners, listener);
    this.#elsewhere?.locate();
  }

  /**
   * Sets the value. A result that has settled stays as it is.
   *
   * @param contained the references in the value, if there are any
   */
  resolve(value: HeldValue, contained?: readonly object[]): void {
    if (this.isSettled) {
      if (value instanceof StoredValue) value.close();
      return;
    }
    this.#value = value;
    if (value instanceof Uint8Array) this.recipe = undefined;
    if (this.id !== 0 && value instanceof StoredValue) value.count();
    this.contained = contained;
    Result.#tellSettled(this);
  }

  /** The value is elsewhere. A result that has settled stays as it is. */
  located(elsewhere: Elsewhere): void {
    if (this.isSettled) return;
    this.#elsewhere = elsewhere;
    this.#loss = undefined;
    Result.#tellDone(this);
    if (this.#settledListeners !== undefined) elsewhere.fetch();
  }

  /** Sets the error. A result that has settled stays as it is. */
  reject(error: Error): void {
    if (this.isSettled) return;
    this.#error = this.#loss === undefined ? error : notMadeAgain(this.#loss, error);
    Result.#tellSettled(this);
  }

  /** The value that was elsewhere is lost, and is being made again: the result is pending. */
  pendingAgain(reason: string): void {
    this.#loss = reason;
    this.#elsewhere?.lost();
  }

  /** Drops the value. Later reads fail. A task whose result is still missing runs on. The owner of the value is told. */
  release(): void {
    const elsewhere = this.#elsewhere;
    this.lose(new ObjectLostError(`the result of ${this.label} was released`));
    elsewhere?.released();
  }

  /** Drops the value for another reason. Later reads fail with the error. */
  lose(error: ObjectLostError): void {
    this.stored?.close();
    this.copies?.drop();
    this.recipe = undefined;
    this.#loss = undefined;
    this.#elsewhere = undefined;
    this.#value = undefined;
    this.contained = undefined;
    this.reject(error);
  }

  // These are static, because each object of a class with private methods has a hidden field for them.
  static #tellSettled(result: Result): void {
    const listeners = result.#settledListeners;
    result.#settledListeners = undefined;
    call(listeners);
    Result.#tellDone(result);
  }

  static #tellDone(result: Result): void {
    const listeners = result.#doneListeners;
    result.#doneListeners = undefined;
    call(listeners);
  }
}

/** Returns the error of a reference to a result that its owner does not have any more. */
export function lostReference(label: string): ObjectLostError {
  return new ObjectLostError(`the result of ${label} does not exist any more: its references have been dropped`);
}

/** Returns a result with that error. */
export function lostResult(label: string): Result {
  const lost = new Result(0, label);
  lost.reject(lostReference(label));
  return lost;
}

function notMadeAgain(loss: string, cause: Error): ObjectLostError {
  return new ObjectLostError(`${loss}; it could not be made again: ${cause.message}`, { cause });
}

/** Most results have one listener, which needs no list. */
function added(listeners: Listeners, listener: ResultListener): Listeners {
  if (listeners === undefined) return listener;
  if (typeof listeners === "function") return [listeners, listener];
  listeners.push(listener);
  return listeners;
}

function call(listeners: Listeners): void {
  if (typeof listeners === "function") listeners();
  else for (const listener of listeners ?? []) listener();
}
