/**
 * How errors travel: name, message, stack and causes as text (thrown.ts). What comes out is an error of this process that
 * says what the remote one said.
 */

import { type Answer, AnswerKind } from "../../cast/answers.js";
import { readBody, readText, readU32, writeText, writeU32 } from "../../link/control.js";
import { DeliveryError, deliveryReasons } from "../../link/errors.js";
import { errorChainOf, errorFromChain, type PlainError } from "../../thrown.js";
import type { Reader } from "../../wire/reader.js";
import { Writer } from "../../wire/writer.js";

/** Causes of an error that are taken from elsewhere. */
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

/** What a handler threw, as `errorChainOf` has read it: reading it may run code of the user's, which must not happen here. */
export function writeThrown(w: Writer, actor: string, thrown: readonly PlainError[]): void {
  writeU32(w, THROWN);
  writeText(w, actor);
  writeErrorChain(w, thrown);
}

/** A call that could not be delivered or that nobody will answer. */
export function writeDeliveryError(w: Writer, actor: string, error: DeliveryError): void {
  writeU32(w, deliveryReasons.indexOf(error.reason));
  writeText(w, actor);
  writeErrorChain(w, errorChainOf(error));
}

const THROWN = 0xff;

/** @throws ProtocolError */
export function readCallError(r: Reader): RemoteError | DeliveryError {
  return readBody(r, "error", () => {
    const code = readU32(r);
    const actor = readText(r);
    const remote = readErrorWithCauses(r);
    if (code === THROWN) return new RemoteError(actor, remote);
    const options = remote.cause === undefined ? {} : { cause: remote.cause };
    return new DeliveryError(deliveryReasons[code] ?? "unknown", remote.message, options);
  });
}

/** What ended a call, as it is passed on to whoever casts. */
export function encodeErrorAnswer(error: Error): Answer {
  const w = new Writer(512);
  const undelivered = error instanceof DeliveryError;
  if (undelivered) writeDeliveryError(w, "", error);
  else if (error instanceof RemoteError) writeThrown(w, error.actor, errorChainOf(error.remote));
  else writeThrown(w, "", errorChainOf(error));
  const kind = undelivered ? AnswerKind.failure : AnswerKind.error;
  return { kind, protobuf: false, bytes: w.copy(0), blocks: [] };
}

/** An error with its causes, outermost first, as a value of its own. Whatever was thrown, this does not throw. */
export function writeErrorWithCauses(w: Writer, thrown: unknown): void {
  writeErrorChain(w, errorChainOf(thrown));
}

function writeErrorChain(w: Writer, chain: readonly PlainError[]): void {
  writeU32(w, chain.length);
  for (const { name, message, stack = "" } of chain) {
    writeText(w, name);
    writeText(w, message);
    writeText(w, stack);
  }
}

export function readErrorWithCauses(r: Reader): Error {
  const chain: PlainError[] = [];
  for (let left = Math.min(readU32(r), MOST_CAUSES); left > 0; left--) {
    const [name, message, stack] = [readText(r), readText(r), readText(r)];
    chain.push({ name, message, stack: stack === "" ? undefined : stack });
  }
  return errorFromChain(chain);
}
