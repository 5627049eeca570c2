/**
 * Reads values that user code has thrown. They can be anything: a value that is no error, a revoked proxy, an error whose
 * `message` throws, a circular chain of causes. The functions never throw. actor/delivery/error-codec.ts encodes errors.
 */
import { types } from "node:util";
import { trimRuntimeFrames } from "./user-stack.js";

/** One error of a chain of causes as plain data. */
export interface PlainError {
  readonly name: string;
  readonly message: string;
  /** Undefined if the error has no stack, or the value is no error. */
  readonly stack: string | undefined;
}

/** The maximum number of errors in a chain of causes, which can be circular. */
const longestChain = 16;
/** The maximum lengths of texts, in characters. Longer texts are cut, because an error must fit into a message. */
const longestMessage = 64 * 1024;
const longestStack = 16 * 1024;

/** Returns the result of `read`, or `otherwise` if `read` throws. */
function tryRead<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** Returns whether a value is an Error. It can be a proxy whose traps throw. */
export function isError(thrown: unknown): thrown is Error {
  return tryRead(() => thrown instanceof Error, types.isNativeError(thrown));
}

/** Returns the message for a thrown value that is no error: `threw undefined`. */
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

/** Returns the message of an error, or the description of another thrown value. */
export function thrownMessage(thrown: unknown): string {
  return readPlainError(thrown).message;
}

/** Returns the stack of an error as Node.js prints it, or the description of another thrown value. */
export function thrownStack(thrown: unknown): string {
  const { name, message, stack } = readPlainError(thrown);
  return stack ?? `${name}: ${message}`;
}

/** Returns the outermost error of a chain, with the others as its causes. Reading these errors never throws. */
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

/** Returns the name of an error, or the name of its class if the name is inherited from a built-in class. */
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

/** Returns the cause of an error. Undefined if there is none, or if reading it throws. */
function readCause(error: Error): unknown {
  return tryRead(() => error.cause, undefined);
}
