/**
 * How errors travel: name, message, stack and causes as text, cut to a size that a mistake in a loop cannot turn into a
 * flood. What comes out is an error of this process that says what the remote one said.
 */

import { type Answer, AnswerKind } from "../cast/answers.js";
import { readBody, readText, readU32, writeText, writeU32 } from "../link/control.js";
import { DeliveryError, deliveryReasons } from "../link/errors.js";
import { userStack } from "../user-stack.js";
import type { Reader } from "../wire/reader.js";
import { Writer } from "../wire/writer.js";

const LONGEST_MESSAGE = 64 * 1024;
const LONGEST_STACK = 16 * 1024;
const MOST_CAUSES = 16;

/** An error that a handler of another process threw, and the actor whose handler it was. */
export class RemoteError extends Error {
  override readonly name = "RemoteError";
  readonly actor: string;
  readonly remote: Error;

  constructor(actor: string, remote: Error) {
    super(remote.message);
    this.actor = actor;
    this.remote = remote;
  }
}

/** What a handler threw, which need not be an error. */
export function writeThrown(w: Writer, actor: string, thrown: unknown): void {
  writeU32(w, THROWN);
  writeText(w, actor);
  writeCauses(w, thrown);
}

/** A call that could not be delivered or that nobody will answer. */
export function writeDelivery(w: Writer, actor: string, error: DeliveryError): void {
  writeU32(w, deliveryReasons.indexOf(error.reason));
  writeText(w, actor);
  writeCauses(w, error);
}

const THROWN = 0xff;

/** @throws ProtocolError */
export function readCallError(r: Reader): RemoteError | DeliveryError {
  return readBody(r, "error", () => {
    const code = readU32(r);
    const actor = readText(r);
    const remote = readCauses(r);
    if (code === THROWN) return new RemoteError(actor, remote);
    const options = remote.cause === undefined ? {} : { cause: remote.cause };
    return new DeliveryError(deliveryReasons[code] ?? "unknown", remote.message, options);
  });
}

/** What ended a call, as it is passed on to whoever casts. */
export function answerOfError(error: Error): Answer {
  const w = new Writer(512);
  const undelivered = error instanceof DeliveryError;
  if (undelivered) writeDelivery(w, "", error);
  else if (error instanceof RemoteError) writeThrown(w, error.actor, error.remote);
  else writeThrown(w, "", error);
  const kind = undelivered ? AnswerKind.failure : AnswerKind.error;
  return { kind, protobuf: false, bytes: w.copy(0), blocks: [] };
}

/** An error with its causes, outermost first, as a value of its own. */
export function writeCauses(w: Writer, thrown: unknown): void {
  const causes: unknown[] = [];
  for (let next: unknown = thrown; next !== undefined && causes.length < MOST_CAUSES; ) {
    causes.push(next);
    next = next instanceof Error ? next.cause : undefined;
  }
  writeU32(w, causes.length);
  for (const cause of causes) {
    const error = cause instanceof Error ? cause : new Error(describeThrown(cause));
    writeText(w, cut(String(error.name), LONGEST_STACK));
    writeText(w, cut(String(error.message), LONGEST_MESSAGE));
    writeText(w, cause === error && typeof error.stack === "string" ? cut(userStack(error.stack), LONGEST_STACK) : "");
  }
}

export function readCauses(r: Reader): Error {
  const texts: (readonly [string, string, string])[] = [];
  for (let left = Math.min(readU32(r), MOST_CAUSES); left > 0; left--) {
    texts.push([readText(r), readText(r), readText(r)]);
  }
  let error: Error | undefined;
  for (const [name, message, stack] of texts.reverse()) {
    const outer = new Error(message, error === undefined ? {} : { cause: error });
    Object.defineProperty(outer, "name", { value: name, configurable: true, writable: true });
    outer.stack = stack === "" ? `${name}: ${message}` : stack;
    error = outer;
  }
  return error ?? new Error("unknown error");
}

/** @returns what was thrown, as the text of an error */
export function describeThrown(thrown: unknown): string {
  try {
    return typeof thrown === "string" ? thrown : `threw ${String(thrown)}`;
  } catch {
    return "threw an object that cannot be printed";
  }
}

function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length} characters)`;
}
