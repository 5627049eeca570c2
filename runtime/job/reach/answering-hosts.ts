/** Waits until hosts accept connections. Nodes of one job start at different times, so each host is asked until it answers. */
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { errorMessage } from "../../../shared/text/error-message.js";

/** Time in ms between two attempts, which grows with the time since the first one: to a tenth of it. */
const firstPauseMs = 20;
const longestPauseMs = 500;
const pausePart = 10;

/** Time in ms for one attempt: a node that is starting may swallow the first packets. */
const attemptMs = 2000;

/** A host that is asked. */
export interface AskedHost {
  /** The name of the node. */
  readonly node: string;
  readonly port: number;
}

/** Thrown when a host does not answer in time. */
export class SilentHostError extends Error {
  override readonly name = "SilentHostError";

  /** @param advice what to do, which follows the reason */
  constructor({ node, port }: AskedHost, lastFailure: string, advice: string) {
    super(`runs on node ${node}, and does not answer at port ${port}: ${lastFailure}${advice}`);
  }
}

/** The way in which hosts are asked. */
export interface AskingHosts {
  /** Resolves if a host accepts a connection, and rejects with the reason if it does not. */
  connect(host: AskedHost): Promise<void>;
  /** The advice about a host that does not answer, which follows the reason in the error; empty if there is none. */
  readonly advice: string;
}

/**
 * Resolves when a host accepts a connection.
 * @throws SilentHostError when `signal` is aborted before
 */
export async function waitForAnswer(
  host: AskedHost,
  signal: AbortSignal,
  { connect, advice }: AskingHosts,
): Promise<void> {
  let lastFailure = "it was not asked yet";
  const begin = Date.now();
  while (!signal.aborted) {
    try {
      await connect(host);
      return;
    } catch (error) {
      lastFailure = errorMessage(error);
    }
    const wait = Math.max(firstPauseMs, (Date.now() - begin) / pausePart);
    await pause(Math.min(wait, longestPauseMs), undefined, { signal }).catch(() => {});
  }
  throw new SilentHostError(host, lastFailure, advice);
}

/** Connects to a host from this machine. */
export function connectOnce({ node, port }: AskedHost): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: node, port });
    const end = (settle: () => void) => {
      socket.destroy();
      settle();
    };
    socket.setTimeout(attemptMs, () => end(() => reject(new Error(`no answer within ${attemptMs} ms`))));
    socket.once("connect", () => end(resolve));
    socket.once("error", (error) => end(() => reject(error)));
  });
}
