/** `ObjectRef`: what a program holds in place of a result. */
import type { ObjectReference } from "../../../generated/tasks.js";
import type { Result } from "./result.js";
import type { ValueCodec } from "./value-codec.js";

/** A context in one process, as references know it. */
export interface RefContext {
  readonly id: string;
  /** The number of the process. */
  readonly proc: bigint;
  /** The reason for which the context is closed in this process. Undefined: it is open. */
  readonly closed: string | undefined;
  /** Encodes references of this context. */
  readonly refs: { write(ref: object): Uint8Array };
}

let readRecord: (ref: ObjectRef<unknown>) => RefRecord;

/** The parts of a reference. */
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
 * to other tasks, and read the value by `await context.get(ref)`. A reference keeps its result. The result is dropped when
 * no process has a reference to it, or after {@link release}.
 */
export class ObjectRef<T> {
  /**
   * Exists only in the type checker.
   *
   * @hidden
   */
  declare readonly [value]: T;
  readonly #record: RefRecord;

  static {
    readRecord = (ref) => ref.#record;
  }

  /**
   * Called by contexts.
   *
   * @hidden
   */
  constructor(record: RefRecord) {
    this.#record = record;
  }

  /** The name of the task, the endpoint, or `put`. */
  get label(): string {
    return this.#record.result.label;
  }

  /** Whether there is a value or an error. */
  get isSettled(): boolean {
    return this.#record.result.isDone;
  }

  /**
   * Drops the value, although references to it exist. Later reads reject with ObjectLostError. Releasing a reference that
   * another process owns drops only what this process has of it.
   */
  release(): void {
    this.#record.result.release();
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
  get then(): (use: "await context.get(ref)") => never {
    throw new TypeError(
      `cannot await the reference to ${this.label}: an ObjectRef is no promise; use await context.get(ref)`,
    );
  }

  /** Returns the name and the state as text: `ObjectRef square (pending)`. */
  toString(): string {
    const { result } = this.#record;
    const state = result.error !== undefined ? "failed" : result.isDone ? "done" : "pending";
    return `ObjectRef ${result.label} (${state})`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

/** Returns the parts of a reference. */
export function recordOf(ref: ObjectRef<unknown>): RefRecord {
  return readRecord(ref);
}
