/**
 * Encodes and decodes errors: name, message, stack and causes as text (see runtime/thrown.ts). The decoded error is an
 * error of this process with the texts of the remote one.
 */

import { AnswerKind, type RankAnswer } from "../../cast/tree/answers.js";
import { DeliveryError, deliveryReasons } from "../../link/errors.js";
import { readBody, readText, readU32, writeText, writeU32 } from "../../link/frame/control-body.js";
import { errorChainOf, errorFromChain, type PlainError } from "../../thrown.js";
import type { Reader } from "../../wire/reader.js";
import { Writer } from "../../wire/writer.js";

/** The maximum number of errors in a chain of causes that is decoded. */
const MOST_CAUSES = 16;

/** An error that a handler of another process threw, with the name of the actor. */
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

/**
 * Writes the error that a handler threw, as read by `errorChainOf`. Reading the error can run user code, which must not
 * happen while a message is written.
 */
export function writeThrown(w: Writer, actor: string, thrown: readonly PlainError[]): void {
  writeU32(w, THROWN);
  writeText(w, actor);
  writeErrorChain(w, thrown);
}

/** Writes why a call could not be delivered or will not be answered. */
export function writeDeliveryError(w: Writer, actor: string, error: DeliveryError): void {
  writeU32(w, deliveryReasons.indexOf(error.reason));
  writeText(w, actor);
  writeErrorChain(w, errorChainOf(error));
}

const THROWN = 0xff;

/** @throws {ProtocolError} */
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

/** Encodes the error that ended a call as an answer for the sender of the cast. */
export function encodeErrorAnswer(error: Error): RankAnswer {
  const w = new Writer(512);
  const undelivered = error instanceof DeliveryError;
  if (undelivered) writeDeliveryError(w, "", error);
  else if (error instanceof RemoteError) writeThrown(w, error.actor, errorChainOf(error.remote));
  else writeThrown(w, "", errorChainOf(error));
  const kind = undelivered ? AnswerKind.failure : AnswerKind.error;
  return { kind, isProtobuf: false, bytes: w.copy(0), blocks: [] };
}

/** Writes an error with its causes, outermost first, as a value of its own. Never throws, whatever value was thrown. */
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
