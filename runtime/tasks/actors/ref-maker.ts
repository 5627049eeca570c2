/** The operations on references of a context that calls of actors use. Types only. */
import type { ObjectRef } from "../refs/object-ref.js";
import type { ValueCodec } from "../refs/value-codec.js";

/** The answer of a call. It can be given up. */
export interface Answer extends Promise<unknown> {
  cancel(): void;
}

/** Reads references, and makes those to the answers of actors. The context implements it. */
export interface RefMaker {
  isRef(value: unknown): value is ObjectRef<unknown>;
  /**
   * Returns whether one of the arguments is a reference.
   *
   * @throws Error if the context is closed; TypeError if a reference belongs to another context
   */
  hasRefs(label: string, args: readonly unknown[]): boolean;
  /** Runs code that sends a message, apart from the handler that is running: the message outlives it. */
  send(body: () => Answer): Answer;
  /** Returns the value of a reference, decoded. Rejects with its error. */
  read(ref: ObjectRef<unknown>): Promise<unknown>;
  /**
   * Makes a reference that settles with the answer of a call. Cancelling the reference calls `cancel` of the answer.
   *
   * @param label the name of the actor and the endpoint, for messages
   * @param codec the codec of the answer
   * @param toError makes the error of the reference from that of the call
   */
  settledBy(label: string, codec: ValueCodec, answer: Answer, toError: (error: unknown) => Error): ObjectRef<unknown>;
}
