/** `ObjectRef`: what a program holds in place of a result. */
import type { ObjectReference } from "../../../generated/tasks.js";
import type { GetOptions } from "./get-options.js";
import type { Result } from "./result.js";
import type { ValueCodec } from "./value-codec.js";

/**
 * A context in one process, as references know it.
 *
 * @internal
 */
export interface RefContext {
  readonly id: string;
  /** The number of the process. */
  readonly proc: bigint;
  /** The reason for which the context is closed in this process. Undefined: it is open. */
  readonly closed: string | undefined;
  readonly refs: {
    /** Encodes references of this context. */
    write(ref: object): Uint8Array;
    /** Whether a value or the result of a task is being encoded or decoded, which keeps the references in it. */
    readonly isCollecting: boolean;
  };
}

/** @internal */
type GetValue = (ref: ObjectRef<unknown>, options: GetOptions) => Promise<unknown>;

let getValue: GetValue;

/**
 * Sets what reads values. The module of `get` does it.
 *
 * @internal
 */
export function setGetValue(get: GetValue): void {
  getValue = get;
}

let readRecord: (ref: ObjectRef<unknown>) => RefRecord;

/**
 * The parts of a reference.
 *
 * @internal
 */
export interface RefRecord {
  /** The context, in this process. */
  readonly member: RefContext;
  readonly result: Result;
  readonly codec: ValueCodec;
  /** The reference to the result of another process. Undefined: this process has the result. */
  readonly remote: ObjectReference | undefined;
}

declare const value: unique symbol;

/**
 * A reference to the result of a task, of a call of an actor, or to a value that was stored by `put`. It is no promise: pass it
 * to other tasks and to actors, and read the value by `await context.get(ref)` or `await ref.get()`. A reference keeps its result. The
 * result is dropped when no process has a reference to it, or after {@link release}.
 */
export class ObjectRef<T> {
  /**
   * Exists only in the type checker.
   *
   * @hidden
   */
  declare readonly [value]: T;
  // Programs have many references. A record in each of them would take more memory.
  readonly #member: RefContext;
  readonly #result: Result;
  readonly #codec: ValueCodec;
  readonly #remote: ObjectReference | undefined;

  static {
    readRecord = (ref) => ({ member: ref.#member, result: ref.#result, codec: ref.#codec, remote: ref.#remote });
  }

  /**
   * Called by contexts.
   *
   * @internal
   */
  constructor({ member, result, codec, remote }: RefRecord) {
    this.#member = member;
    this.#result = result;
    this.#codec = codec;
    this.#remote = remote;
  }

  /** The name of the task, the endpoint, or `put`. */
  get label(): string {
    return this.#result.label;
  }

  /** Whether there is a value or an error. */
  get isSettled(): boolean {
    return this.#result.isDone;
  }

  /**
   * Waits for the value. It does what `get` of its context does, also in processes without a context: those of actors that were sent the
   * reference.
   *
   * @param options a time limit
   * @returns a copy of the value; each call returns its own. Binary values of 64 KiB and more can be mapped from the memory of the machine
   *   instead: one task or actor sees the same memory at each call, and nobody else sees what it writes there
   * @throws {TaskError} as a rejection, when the task threw
   * @throws {WorkerLostError} as a rejection, when the process of the task ended
   * @throws {ObjectLostError} as a rejection, when the value was released or lost, or the context was closed
   * @throws {DeadlockError} as a rejection, when the task would wait for itself, or for a task that waits for it
   * @throws {TimeoutError} as a rejection, when the time limit has passed
   */
  get(options: GetOptions = {}): Promise<T> {
    return getValue(this, options) as Promise<T>;
  }

  /**
   * Drops the value, although references to it exist. Later reads reject with ObjectLostError. Releasing a reference that
   * another process owns drops only what this process has of it, by any reference, and tells the owner.
   */
  release(): void {
    this.#result.release();
  }

  /** Releases the value at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.release();
  }

  /**
   * Throws: a reference is no promise, so `await ref` does not compile, and rejects.
   *
   * @hidden
   */
  // biome-ignore lint/suspicious/noThenProperty: awaiting a reference is a mistake, which is reported by this property
  get then(): (use: "await ref.get()") => never {
    throw new TypeError(`cannot await the reference to ${this.label}: an ObjectRef is no promise; use await ref.get()`);
  }

  /** Returns the name and the state as text: `ObjectRef square (pending)`. */
  toString(): string {
    const { error, isDone, label } = this.#result;
    const state = error !== undefined ? "failed" : isDone ? "done" : "pending";
    return `ObjectRef ${label} (${state})`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

/**
 * Returns the parts of a reference.
 *
 * @internal
 */
export function recordOf(ref: ObjectRef<unknown>): RefRecord {
  return readRecord(ref);
}
