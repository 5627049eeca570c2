/**
 * The calls of one process to one actor that `run` makes. They are sent in the order in which they were made, also when one
 * waits for a reference: the actor then handles them in this order.
 */
import { arityError } from "../../../shared/text/arity-error.js";
import type { EndpointDescriptor } from "../../index.js";
import type { ObjectRef } from "../refs/object-ref.js";
import type { ValueCodec } from "../refs/value-codec.js";
import { errorOfCall } from "./call-errors.js";
import { type HeldArguments, holdArguments } from "./held-arguments.js";
import type { Answer, RefMaker } from "./ref-maker.js";

/** An endpoint of the actor. */
export interface CalledEndpoint {
  readonly label: string;
  readonly descriptor: EndpointDescriptor;
  readonly answers: ValueCodec;
  /** Sends a call. @throws errors that are known before sending */
  readonly send: (args: readonly unknown[]) => Answer;
}

export class ActorCalls {
  readonly #refs: RefMaker;
  readonly #most: number;
  #underWay = 0;
  /** The first calls in the queue, which wait for a call to end. */
  readonly #waiting = new Set<() => void>();
  /** Resolves when the last call has been sent or given up. Undefined: nothing waits. */
  #last: Promise<void> | undefined;

  /** @param most the largest number of calls under way; Infinity: any */
  constructor(refs: RefMaker, most: number) {
    this.#refs = refs;
    this.#most = most;
  }

  /**
   * Calls an endpoint, and returns a reference to the answer.
   *
   * @param args values, and references to values
   * @throws TypeError for a wrong number of arguments; also rethrows errors that are known before sending
   */
  run(to: CalledEndpoint, args: readonly unknown[]): ObjectRef<unknown> {
    const { label, descriptor } = to;
    const { minArgs, maxArgs } = descriptor;
    if (args.length < minArgs || args.length > maxArgs) throw arityError(label, minArgs, maxArgs, args.length);
    const hasRefs = this.#refs.hasRefs(label, args);
    const isFree = this.#last === undefined && this.#underWay < this.#most;
    const answer = isFree && !hasRefs ? this.#send(to, args) : this.#queue(to, args);
    return this.#refs.settledBy(label, to.answers, answer, (error) => errorOfCall(label, error));
  }

  #send(to: CalledEndpoint, args: readonly unknown[]): Answer {
    const answer = this.#refs.send(() => to.send(args));
    if (this.#most !== Number.POSITIVE_INFINITY) {
      this.#underWay++;
      answer.then(this.#ended, this.#ended);
    }
    return answer;
  }

  readonly #ended = (): void => {
    this.#underWay--;
    for (const next of this.#waiting) next();
  };

  #queue(to: CalledEndpoint, args: readonly unknown[]): Answer {
    const held = holdArguments(to.label, to.descriptor.args, args, this.#refs);
    const call = new QueuedCall();
    const before = this.#last ?? Promise.resolve();
    const sent = this.#sendInTurn(call, to, held, before);
    // The next call follows this one, and those before this one if it is given up.
    const last = sent.then(
      () => before,
      () => before,
    );
    this.#last = last;
    void last.then(() => {
      if (this.#last === last) this.#last = undefined;
    });
    const answer = sent.then((box) => box.answer);
    return Object.assign(answer, { cancel: () => call.cancel() });
  }

  /** Resolves when the call has been sent. The answer is in a box, because it is a promise itself. */
  async #sendInTurn(
    call: QueuedCall,
    to: CalledEndpoint,
    held: HeldArguments,
    before: Promise<void>,
  ): Promise<{ readonly answer: Answer }> {
    const args = await Promise.race([held(), call.givenUp]);
    await Promise.race([before, call.givenUp]);
    while (this.#underWay >= this.#most) await Promise.race([this.#whenOneEnds(), call.givenUp]);
    const answer = this.#send(to, args);
    call.answer = answer;
    return { answer };
  }

  #whenOneEnds(): Promise<void> {
    return new Promise((resolve) => {
      const next = (): void => {
        this.#waiting.delete(next);
        resolve();
      };
      this.#waiting.add(next);
    });
  }
}

/** A call that waits, until it is sent or given up. */
class QueuedCall {
  /** Rejects when the call is given up. */
  readonly givenUp: Promise<never>;
  answer: Answer | undefined;
  #giveUp!: (reason: unknown) => void;

  constructor() {
    this.givenUp = new Promise((_, reject) => {
      this.#giveUp = reject;
    });
    this.givenUp.catch(() => {});
  }

  cancel(): void {
    this.answer?.cancel();
    this.#giveUp(new DOMException("the call was cancelled", "AbortError"));
  }
}
