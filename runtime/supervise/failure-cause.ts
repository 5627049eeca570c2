/**
 * Causes of failures as plain data: an error and the chain of its causes, in a form that can be sent, printed and
 * converted back to errors. The errors that answer calls are made elsewhere.
 */
import { errorChainOf, errorFromChain, type PlainError } from "../thrown.js";

/** One error of a chain of causes, as plain data. */
export interface FailureCause {
  /** The class of the error, as its property `name` says. */
  readonly name: string;
  /** The message of the error. */
  readonly message: string;
  /** The stack of the error, in the process that threw it. */
  readonly stack?: string;
  /** The error that caused this one. */
  readonly cause?: FailureCause;
}

/** Returns the chain of causes of a thrown value, which need not be an Error. Never throws. */
export function failureCauseOf(thrown: unknown): FailureCause {
  const [first, ...others] = errorChainOf(thrown) as [PlainError, ...PlainError[]];
  return linkCauses(first, others);
}

function linkCauses({ name, message, stack }: PlainError, [next, ...others]: readonly PlainError[]): FailureCause {
  return {
    name,
    message,
    ...(stack === undefined ? {} : { stack }),
    ...(next === undefined ? {} : { cause: linkCauses(next, others) }),
  };
}

/** Returns `cause` with `last` appended to the end of its chain. */
export function appendCause(cause: FailureCause, last: FailureCause): FailureCause {
  return { ...cause, cause: cause.cause === undefined ? last : appendCause(cause.cause, last) };
}

/** Returns an Error with the name, message, stack and causes that the error had in another process. */
export function errorFromCause(cause: FailureCause): Error {
  const chain: PlainError[] = [];
  for (let next: FailureCause | undefined = cause; next !== undefined; next = next.cause) {
    chain.push({ name: next.name, message: next.message, stack: next.stack });
  }
  return errorFromChain(chain);
}

/** Returns the chain as text, one paragraph for each error. Each error stands below the error that it caused. */
export function describeCause(cause: FailureCause): string {
  const heading = `${cause.name}: ${cause.message}`;
  const { stack } = cause;
  const own = stack === undefined ? heading : stack.includes(cause.message) ? stack : `${heading}\n${stack}`;
  return cause.cause === undefined ? own : `${own}\ncaused by ${describeCause(cause.cause)}`;
}
