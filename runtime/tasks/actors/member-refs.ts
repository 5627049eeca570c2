/** The references to answers of actors, as those of a context in this process. */
import type { ContextMember } from "../context/member.js";
import { decodeHeld } from "../objects/held-value.js";
import { ObjectRef, recordOf } from "../refs/object-ref.js";
import { Result } from "../refs/result.js";
import type { ValueCodec } from "../refs/value-codec.js";
import type { Answer, RefMaker } from "./ref-maker.js";

export class MemberRefs implements RefMaker {
  readonly #member: ContextMember;

  constructor(member: ContextMember) {
    this.#member = member;
  }

  isRef(value: unknown): value is ObjectRef<unknown> {
    return value instanceof ObjectRef;
  }

  hasRefs(label: string, args: readonly unknown[]): boolean {
    const failed = `cannot call ${label}`;
    this.#member.checkOpen(failed);
    let found = false;
    for (const arg of args) {
      if (!(arg instanceof ObjectRef)) continue;
      this.#member.refs.own(arg, failed);
      found = true;
    }
    return found;
  }

  send(body: () => Answer): Answer {
    let answer: Answer;
    this.#member.inTurn(() => {
      answer = body();
    });
    return answer!;
  }

  async read(ref: ObjectRef<unknown>): Promise<unknown> {
    const { result, codec } = recordOf(ref);
    await new Promise<void>((resolve) => result.whenSettled(resolve));
    const { value } = result;
    if (value === undefined) throw result.error!;
    await codec.load?.();
    return decodeHeld(codec, value, {});
  }

  settledBy(label: string, codec: ValueCodec, answer: Answer, toError: (error: unknown) => Error): ObjectRef<unknown> {
    const member = this.#member;
    const result = new Result(member.newResultId(), label);
    let hasEnded = false;
    const settle = (step: () => void): void => {
      hasEnded = true;
      try {
        step();
      } catch (error) {
        result.reject(error as Error);
      }
    };
    answer.then(
      (value) => settle(() => result.resolve(codec.encode(value, { kind: "result", task: label }))),
      (error: unknown) => settle(() => result.reject(toError(error))),
    );
    // A reference that was cancelled or released has settled before its answer.
    result.whenSettled(() => {
      if (!hasEnded) answer.cancel();
    });
    return new ObjectRef({ member, result, codec, remote: undefined });
  }
}
