/** The result of a task, as a process knows it: pending, encoded, or an error. */
import { ObjectLostError } from "../errors.js";
import { type HeldValue, sizeOfHeld } from "../objects/held-value.js";
import { StoredValue } from "../objects/stored-value.js";

/** Called once, when a result has settled. */
export type SettledListener = () => void;

/** The encoded value of a result, or its error. The value is not kept decoded: each `get` decodes it anew. */
export class Result {
  /** The number in the process that owns the result; 0 in other processes. */
  readonly id: number;
  /** The name of the task, for messages. */
  readonly label: string;
  #value: HeldValue | undefined;
  #error: Error | undefined;
  #listeners: SettledListener | SettledListener[] | undefined;
  #fetch: (() => void) | undefined;
  /** The references in the value. Their results are kept as long as this one. */
  contained: readonly object[] | undefined;

  /** @param fetch gets the value of another process. It is called once, when someone waits for the value */
  constructor(id: number, label: string, fetch?: () => void) {
    this.id = id;
    this.label = label;
    this.#fetch = fetch;
  }

  /** Whether there is a value or an error here. */
  get isSettled(): boolean {
    return this.#value !== undefined || this.#error !== undefined;
  }

  /** The error; undefined while there is none. */
  get error(): Error | undefined {
    return this.#error;
  }

  /** The encoded value; undefined while there is none. */
  get value(): HeldValue | undefined {
    return this.#value;
  }

  /** The value if it is in the memory of the machine. */
  get stored(): StoredValue | undefined {
    return this.#value instanceof StoredValue ? this.#value : undefined;
  }

  /** The number of encoded bytes; undefined while it is not known. */
  get size(): number | undefined {
    return this.#value === undefined ? undefined : sizeOfHeld(this.#value);
  }

  /** Calls `listener` when the result has settled; at once if it has. */
  whenSettled(listener: SettledListener): void {
    if (this.isSettled) {
      listener();
      return;
    }
    const before = this.#listeners;
    if (before === undefined) this.#listeners = listener;
    else if (typeof before === "function") this.#listeners = [before, listener];
    else before.push(listener);
    const fetch = this.#fetch;
    this.#fetch = undefined;
    fetch?.();
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
    if (this.id !== 0 && value instanceof StoredValue) value.count();
    this.contained = contained;
    this.#tell();
  }

  /** Sets the error. A result that has settled stays as it is. */
  reject(error: Error): void {
    if (this.isSettled) return;
    this.#error = error;
    this.#tell();
  }

  /** Drops the value. Later reads fail. A task whose result is still missing runs on. */
  release(): void {
    this.lose(new ObjectLostError(`the result of ${this.label} was released`));
  }

  /** Drops the value for another reason. Later reads fail with the error. */
  lose(error: ObjectLostError): void {
    this.stored?.close();
    this.#value = undefined;
    this.contained = undefined;
    this.reject(error);
  }

  #tell(): void {
    const listeners = this.#listeners;
    this.#listeners = undefined;
    if (typeof listeners === "function") listeners();
    else for (const listener of listeners ?? []) listener();
  }
}
