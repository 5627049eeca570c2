/**
 * Converts errors of a mesh to errors of Connect and gRPC: a code on which clients can act, the text, and a
 * `google.rpc.ErrorInfo` that identifies the actor.
 */

import { Code, ConnectError } from "@connectrpc/connect";
import { snakeCase } from "../../shared/protobuf/names.js";
import { errorMessage } from "../../shared/text/error-message.js";
import { errorDomain, errorInfo } from "../connect/error-info.js";
import {
  ActorError,
  BackpressureError,
  CodecError,
  DeadlockError,
  DeliveryError,
  MessageSizeError,
  SupervisionError,
  TimeoutError,
} from "../index.js";

/**
 * Codes of Connect by the class names of errors that handlers throw: `{ NotFoundError: Code.NotFound }`. Clients
 * receive other errors of handlers as `unknown`.
 */
export type ErrorCodes = Readonly<Record<string, Code>>;

/**
 * Converts the error of a call or stream to an error of Connect. Its details contain a `google.rpc.ErrorInfo` with the
 * actor, rank and endpoint.
 *
 * @param error the error with which the call or stream was rejected
 * @param codes the codes of errors that handlers throw
 */
export function connectError(error: unknown, codes: ErrorCodes = {}): ConnectError {
  if (error instanceof ConnectError) return error;
  const made = new ConnectError(errorMessage(error), connectCodeOf(error, codes), undefined, undefined, error);
  const about = errorMetadataOf(error);
  if (about !== undefined) {
    const reason = snakeCase(about["remoteName"] ?? (error as Error).name).toUpperCase();
    made.details.push({ desc: errorInfo, value: { reason, domain: errorDomain, metadata: about } });
  }
  return made;
}

function connectCodeOf(error: unknown, codes: ErrorCodes): Code {
  if (error instanceof ActorError)
    return Object.hasOwn(codes, error.remoteName) ? codes[error.remoteName]! : Code.Unknown;
  if (error instanceof TimeoutError) return Code.DeadlineExceeded;
  if (error instanceof SupervisionError || error instanceof DeliveryError) return Code.Unavailable;
  if (error instanceof BackpressureError || error instanceof MessageSizeError) return Code.ResourceExhausted;
  if (error instanceof DeadlockError) return Code.FailedPrecondition;
  if (error instanceof CodecError) return error.verb === "decode" ? Code.InvalidArgument : Code.Internal;
  if (error instanceof Error && error.name === "AbortError") return Code.Canceled;
  return Code.Internal;
}

/** Returns the actor, rank and endpoint of an error, as far as the error contains them. */
function errorMetadataOf(error: unknown): Record<string, string> | undefined {
  if (error instanceof ActorError) {
    const { remoteName, actor, rank, endpoint } = error;
    return { remoteName, actor, rank: String(rank), endpoint };
  }
  if (error instanceof SupervisionError) {
    return { endpoint: error.endpoint, ranks: error.ranks.join(",") };
  }
  return undefined;
}
