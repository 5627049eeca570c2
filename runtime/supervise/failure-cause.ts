/**
 * Causes of failures as plain data: an error and what caused it, down to the root, in a form that can be sent, printed
 * and turned back into errors. Errors that answer a call are not made here.
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

/** @returns the chain that begins with what was thrown, which need not be an Error. Never throws. */
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

/** @returns `cause` with `last` as the cause of the last of its chain */
export function appendCause(cause: FailureCause, last: FailureCause): FailureCause {
  return { ...cause, cause: cause.cause === undefined ? last : appendCause(cause.cause, last) };
}

/** @returns an Error with the name, message, stack and causes of another process's */
export function errorFromCause(cause: FailureCause): Error {
  const chain: PlainError[] = [];
  for (let next: FailureCause | undefined = cause; next !== undefined; next = next.cause) {
    chain.push({ name: next.name, message: next.message, stack: next.stack });
  }
  return errorFromChain(chain);
}

/** The chain as text, one error a paragraph, each below what it caused. */
export function describeCause(cause: FailureCause): string {
  const heading = `${cause.name}: ${cause.message}`;
  const { stack } = cause;
  const own = stack === undefined ? heading : stack.includes(cause.message) ? stack : `${heading}\n${stack}`;
  return cause.cause === undefined ? own : `${own}\ncaused by ${describeCause(cause.cause)}`;
}
