/**
 * Connects a proc to an agent on a host: the transport, the credentials, and the time for which the connection may be
 * interrupted.
 */

import type { HostProof } from "../../../generated/proc-agent.js";
import type { Proc } from "../../actor/proc/proc.js";
import { offerLink } from "../../link/handshake/dial.js";
import { HandshakeError } from "../../link/handshake/errors.js";
import { dialResumable } from "../../link/resumable/dial.js";
import type { ResumableLimits } from "../../link/resumable/limits.js";
import { formatNetworkAddress } from "../../link/transport/network-address.js";
import type { Pipe } from "../../link/transport/pipe.js";
import type { Platform } from "../platform/platform.js";
import { credentialsOf } from "./credentials.js";
import type { HostRoute } from "./host-route.js";
import type { HostedLocation } from "./hosted-location.js";

export interface HostTarget extends Pick<HostedLocation, "agent" | "address"> {
  readonly proof: HostProof | undefined;
  /** Whether the host creates the agent if it does not exist. Only the driver that attaches the host sets this. */
  readonly attaches?: boolean;
  /** The way to the address. Absent: this process dials it. */
  readonly through?: HostRoute | undefined;
  /** The time in ms for which the link goes on without a connection, if it is not the usual one. */
  readonly absence?: number | undefined;
}

/** Returns the limits of a link that goes on without a connection for so many milliseconds. */
export function limitsFor(absence: number | undefined): Partial<ResumableLimits> {
  return absence === undefined ? {} : { giveUpMs: absence };
}

/**
 * Error codes for addresses that are not reachable now and may be later: unknown names, hosts that are starting, sockets
 * that do not exist yet, Unix sockets whose queue of connections is full (`EAGAIN`), and proxies in front of a host that do not
 * reach it (`HTTP_502`).
 */
const transientErrorCodes = new Set([
  "EAGAIN",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  "ENOTFOUND",
  "ETIMEDOUT",
  "HTTP_502",
  "HTTP_503",
  "HTTP_504",
]);

/**
 * Returns whether a later attempt to connect may succeed. The refusal of a host is final unless the host says that it
 * is temporary.
 */
export function isTransient(error: unknown): boolean {
  if (error instanceof HandshakeError) return error.isTransient;
  return error instanceof Error && "code" in error && transientErrorCodes.has(String(error.code));
}

/**
 * Connects to the agent of a host. A link over TCP or TLS survives the loss of its connection; the end of a Unix socket
 * means that the process behind it has ended.
 * @param limit time limit in ms for the first attempt
 * @param connectMs time limit in ms for the network to answer, if it is shorter than `limit`
 * @throws Error, HandshakeError if the host cannot be reached or refuses this process
 */
export async function connectToHost(
  platform: Platform,
  from: Proc,
  target: HostTarget,
  limit: number,
  connectMs?: number,
): Promise<Pipe> {
  const { address, proof, agent: to, attaches = false, through, absence = through?.absence } = target;
  const token = proof?.token;
  const tls = credentialsOf(proof?.tls);
  const { clock, random } = platform;
  const who = { universe: from.universe, from: from.id, to };
  const peer = formatNetworkAddress(address);
  if (address.kind !== "unix") {
    const connect = (_port: number | undefined, signal: AbortSignal) =>
      (through ?? platform).connect(address, tls, signal);
    return dialResumable({
      clock,
      random,
      ...who,
      direct: !attaches,
      peer,
      token,
      handshakeMs: limit,
      connectMs,
      limits: limitsFor(absence),
      connect,
    });
  }
  const given = new AbortController();
  const timer = clock.after(limit, () =>
    given.abort(new HandshakeError("lost", `it did not answer within ${limit} ms`)),
  );
  try {
    const pipe = await platform.connect(address, tls, given.signal);
    const link = { ...who, direct: !attaches, use: "link" as const, link: random.id(), first: true, received: 0 };
    const outcome = await offerLink(pipe, link, { clock, random, token, handshakeMs: limit });
    if (outcome.kind === "open") return outcome.pipe;
    throw new Error(`it redirects this process to port ${outcome.port} for its agent, which does not listen`);
  } finally {
    timer.cancel();
  }
}
