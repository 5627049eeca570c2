/**
 * Causes of failures as plain data: an error and what caused it, down to the root, in a form that can be sent, printed
 * and turned back into errors. Errors that answer a call are not made here.
 */
import { userStack } from "../user-stack.js";

/** One error of a chain. */
export interface FailureCause {
  /** The class of the error, as its `name` says. */
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: FailureCause;
}

/** A chain longer than this is cut: causes may be circular. */
const longestChain = 16;

/** @returns the chain that begins with what was thrown, which need not be an Error */
export function causeOf(thrown: unknown, left: number = longestChain): FailureCause {
  if (!(thrown instanceof Error)) return { name: "Error", message: `threw ${describe(thrown)}` };
  const { name, message, stack, cause } = thrown;
  return {
    name: String(name),
    message: String(message),
    ...(typeof stack === "string" ? { stack: userStack(stack) } : {}),
    ...(cause === undefined || left <= 1 ? {} : { cause: causeOf(cause, left - 1) }),
  };
}

/** @returns `cause` with `last` as the cause of the last of its chain */
export function chained(cause: FailureCause, last: FailureCause): FailureCause {
  return { ...cause, cause: cause.cause === undefined ? last : chained(cause.cause, last) };
}

/** @returns an Error with the name, message, stack and causes of another process's */
export function errorOf({ name, message, stack, cause }: FailureCause): Error {
  const error = new Error(message, cause === undefined ? {} : { cause: errorOf(cause) });
  Object.defineProperty(error, "name", { value: name, configurable: true, writable: true });
  error.stack = stack ?? `${name}: ${message}`;
  return error;
}

/** The chain as text, one error a paragraph, each below what it caused. */
export function describeCause(cause: FailureCause): string {
  const heading = `${cause.name}: ${cause.message}`;
  const { stack } = cause;
  const own = stack === undefined ? heading : stack.includes(cause.message) ? stack : `${heading}\n${stack}`;
  return cause.cause === undefined ? own : `${own}\ncaused by ${describeCause(cause.cause)}`;
}

function describe(value: unknown): string {
  try {
    return typeof value === "string" ? JSON.stringify(value) : String(value);
  } catch {
    return "an object that cannot be printed";
  }
}
