/** Reads what the gateway tells about the actor in the details of an error. */
import { ConnectError } from "@connectrpc/connect";
import { errorDomain, errorInfo } from "./error-info.js";

/** Describes why a call has failed, as the gateway reports it: the error of the actor, or the end of its process. */
export interface ActorFailure {
  /** The class of the error in upper case, as in `google.rpc.ErrorInfo`: `SOLD_OUT_ERROR`. */
  readonly reason: string;
  /** The endpoint: `shops.order`. */
  readonly endpoint: string;
  /** The name of the class of the error that the handler threw. Undefined if no handler threw one. */
  readonly remoteName?: string;
  /** The actor whose handler threw the error: `shops[1]`. */
  readonly actor?: string;
  /** The ranks that have failed: that of the actor, or those whose processes have ended. */
  readonly ranks: readonly number[];
}

/**
 * Returns what a gateway tells about the failed actor. Returns undefined for other errors: of the network, of a
 * deadline, of a request that does not fit the schema.
 *
 * @example
 * ```ts
 * import { Code, ConnectError } from "@connectrpc/connect";
 * import { actorFailure } from "viceroy/connect/v1";
 *
 * declare const error: unknown;
 * if (actorFailure(error)?.remoteName === "SoldOutError") console.log("sold out");
 * else if (ConnectError.from(error).code === Code.Unavailable) console.log("try again later");
 * ```
 *
 * @param error the error with which a call or a stream of a client was rejected
 */
export function actorFailure(error: unknown): ActorFailure | undefined {
  if (!(error instanceof ConnectError)) return undefined;
  for (const detail of error.findDetails(errorInfo)) {
    const { reason, domain, metadata } = detail as unknown as ErrorInfo;
    if (domain !== errorDomain) continue;
    const { remoteName, actor, rank, ranks, endpoint = "" } = metadata;
    return {
      reason,
      endpoint,
      ...(remoteName !== undefined && { remoteName }),
      ...(actor !== undefined && { actor }),
      ranks: (rank ?? ranks ?? "").split(",").filter(Boolean).map(Number),
    };
  }
  return undefined;
}

interface ErrorInfo {
  readonly reason: string;
  readonly domain: string;
  readonly metadata: Readonly<Record<string, string | undefined>>;
}
