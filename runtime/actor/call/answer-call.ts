/**
 * A call of one actor whose answer goes to an object, without promises and closures. It is for callers within the runtime that make
 * many calls: on Node.js 20 and 22, each promise takes time and memory in a program that has actors.
 */
import type { PendingCall } from "../../link/outbound/pending-calls.js";
import type { Session } from "../../link/outbound/session.js";
import { decodeValue } from "../../wire/protobuf-messages.js";
import type { Reader } from "../../wire/reader.js";
import { isProgramEnding } from "../program-end.js";
import type { OutstandingCall } from "../reference/outstanding-call.js";
import { errorForCaller } from "./call-future.js";
import type { Dispatcher } from "./dispatcher.js";
import { dispatcherOf } from "./endpoint.js";

/** Takes the answer of a call, or its error. */
export interface AnswerTaker<T> {
  /** Called with the answer, while the link is read: other answers may follow before microtasks run. */
  answered(answer: T): void;
  /** Called later, with the error that a future would reject with. */
  failed(error: Error): void;
}

class AnswerCall<T> implements PendingCall, OutstandingCall {
  id = 0;
  session: Session | undefined;
  credit = 0;
  isAbandoned = false;
  turn: OutstandingCall["turn"];
  readonly #called: Dispatcher;
  readonly #taker: AnswerTaker<T>;

  constructor(called: Dispatcher, taker: AnswerTaker<T>) {
    this.#called = called;
    this.#taker = taker;
  }

  get label(): string {
    return this.#called.label;
  }

  get waitText(): string {
    return "";
  }

  answered(r: Reader): void {
    this.turn?.removeOutstanding(this);
    let value: T;
    try {
      const { result } = this.#called;
      value = (result === undefined ? undefined : decodeValue(result, r)) as T;
    } catch (error) {
      this.#reject(error as Error);
      return;
    }
    // The link reads on whatever the caller does.
    try {
      this.#taker.answered(value);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  failed(error: Error): void {
    this.turn?.removeOutstanding(this);
    this.#reject(errorForCaller(this.#called, 0, error));
  }

  abandon(error: unknown, reason: number): void {
    if (this.id !== 0) this.session?.abandon(this, reason);
    this.#reject(error as Error);
  }

  /** Tells the error later, because a link that ends fails all of its calls before anything else is sent. */
  #reject(error: Error): void {
    if (isProgramEnding()) return;
    queueMicrotask(() => this.#taker.failed(error));
  }

  item(): void {}

  ended(): void {}
}

/**
 * Calls the only actor of a mesh, for an endpoint without options, whose answers contain no ports.
 *
 * @param endpoint the endpoint of the mesh
 * @param args the arguments
 * @throws the errors that `callOne` throws
 */
export function callForAnswer<T>(endpoint: object, args: readonly unknown[], taker: AnswerTaker<T>): void {
  const to = dispatcherOf(endpoint);
  to.check(args);
  const call = new AnswerCall(to, taker);
  const refused = to.callOne(args, 0, call, call);
  if (refused !== undefined) call.failed(refused);
}
