/**
 * Reads what user code threw, which may be anything: no error at all, a proxy that was revoked, an error whose `message`
 * throws, a chain of causes that is a circle. Nothing here throws. How errors travel is told elsewhere.
 */
import { types } from "node:util";
import { trimRuntimeFrames } from "./user-stack.js";

/** One error of a chain as plain data. */
export interface PlainError {
  readonly name: string;
  readonly message: string;
  /** Undefined: it has none, or it was no error. */
  readonly stack: string | undefined;
}

/** A longer chain of causes is cut: it may be a circle. */
const longestChain = 16;
/** Longer texts are cut, in characters: an error must fit into a message. */
const longestMessage = 64 * 1024;
const longestStack = 16 * 1024;

/** `read()`, or `otherwise` if that throws. */
function tryRead<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** `thrown instanceof Error`, also for proxies whose traps throw. */
export function isError(thrown: unknown): thrown is Error {
  return tryRead(() => thrown instanceof Error, types.isNativeError(thrown));
}

/** `threw undefined`: what stands in an error's place where something else was thrown. */
function describeThrown(thrown: unknown): string {
  const text = tryRead(() => (typeof thrown === "string" ? JSON.stringify(thrown) : String(thrown)), undefined);
  return `threw ${typeof text === "string" ? text : "an object that cannot be printed"}`;
}

/** Returns the thrown value and its causes, outermost first; at least one. */
export function errorChainOf(thrown: unknown): PlainError[] {
  const chain: PlainError[] = [];
  let next: unknown = thrown;
  do {
    chain.push(readPlainError(next));
    next = isError(next) ? readCause(next) : undefined;
  } while (next !== undefined && chain.length < longestChain);
  return chain;
}

/** The message of an error, or what else was thrown. */
export function thrownMessage(thrown: unknown): string {
  return readPlainError(thrown).message;
}

/** The stack of an error as Node.js prints it, or what else was thrown. */
export function thrownStack(thrown: unknown): string {
  const { name, message, stack } = readPlainError(thrown);
  return stack ?? `${name}: ${message}`;
}

/** A chain as errors: the outermost one. Reading those never throws. */
export function errorFromChain(chain: readonly PlainError[]): Error {
  let error: Error | undefined;
  for (const { name, message, stack } of chain.toReversed()) {
    const outer = new Error(message, error === undefined ? {} : { cause: error });
    Object.defineProperty(outer, "name", { value: name, configurable: true, writable: true });
    outer.stack = stack ?? `${name}: ${message}`;
    error = outer;
  }
  return error ?? new Error("unknown error");
}

const unreadableError = "threw an error that cannot be read";

function readPlainError(thrown: unknown): PlainError {
  if (!isError(thrown)) {
    return { name: "Error", message: truncate(describeThrown(thrown), longestMessage), stack: undefined };
  }
  const name = tryRead(() => nameOrClass(thrown), "Error");
  const message = tryRead(() => String(thrown.message), unreadableError);
  const stack = tryRead<unknown>(() => thrown.stack, undefined);
  return {
    name: truncate(name, longestStack),
    message: truncate(message, longestMessage),
    stack: typeof stack === "string" ? truncate(trimRuntimeFrames(stack), longestStack) : undefined,
  };
}

/** Returns the error's name. A class that sets none inherits that of a class of JavaScript: then its own name says more. */
function nameOrClass(error: Error): string {
  const name = String(error.name);
  if (!builtInNames.has(name) || Object.hasOwn(error, "name")) return name;
  const className = tryRead<unknown>(() => error.constructor.name, undefined);
  return typeof className === "string" && className !== "" ? className : name;
}

const builtInNames: ReadonlySet<string> = new Set([
  "AggregateError",
  "Error",
  "EvalError",
  "RangeError",
  "ReferenceError",
  "SyntaxError",
  "TypeError",
  "URIError",
]);

function truncate(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length} characters)`;
}

/** Undefined: it has none, or that cannot be read. */
function readCause(error: Error): unknown {
  return tryRead(() => error.cause, undefined);
}
