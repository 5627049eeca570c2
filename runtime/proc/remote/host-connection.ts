/** How a proc gets a link to an agent on a host: by which transport, with what proof, and for how long it may be cut. */

import type { CertificateFiles, HostProof } from "../../../generated/proc-agent.js";
import type { Proc } from "../../actor/proc/proc.js";
import { HandshakeError } from "../../link/handshake/errors.js";
import { offerLink } from "../../link/handshake/offer.js";
import { dialLasting } from "../../link/lasting/dial.js";
import { formatNetworkAddress } from "../../link/network-address.js";
import type { Pipe } from "../../link/pipe.js";
import { Credentials } from "../../link/tls/credentials.js";
import type { Platform } from "../platform/platform.js";
import type { HostedLocation } from "./hosted-location.js";

export interface HostTarget extends Pick<HostedLocation, "agent" | "address"> {
  readonly proof: HostProof | undefined;
  /** Whether the agent is to be made, if there is none: for the driver who attaches the host. */
  readonly attaches?: boolean;
}

/** Files are read once for all connections, and again when they have changed. */
const credentialsByFiles = new Map<string, Credentials>();

export function credentialsOf(files: CertificateFiles | undefined): Credentials | undefined {
  if (files === undefined) return undefined;
  const key = [files.cert, files.key, files.ca].join("\n");
  let known = credentialsByFiles.get(key);
  if (known === undefined) {
    known = new Credentials(files);
    credentialsByFiles.set(key, known);
  }
  return known;
}

/** What the system says of places where nobody is, or not yet: names that are not known, hosts that start, sockets to come. */
const transientErrorCodes = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  "ENOTFOUND",
  "ETIMEDOUT",
]);

/** Whether another attempt to connect may end otherwise: what a host has said of itself or of this process stays as it is. */
export function isTransient(error: unknown): boolean {
  if (error instanceof HandshakeError) return error.passing;
  return error instanceof Error && "code" in error && transientErrorCodes.has(String(error.code));
}

/**
 * Links over TCP and TLS outlive their connections; the end of a Unix socket is the end of the process behind it.
 * @param limit of the first attempt, in ms
 * @param connectMs in which the network must have answered, in ms, where that is known sooner than by `limit`
 * @throws Error, HandshakeError if there is none, or it does not let this process in
 */
export async function connectToHost(
  platform: Platform,
  from: Proc,
  target: HostTarget,
  limit: number,
  connectMs?: number,
): Promise<Pipe> {
  const { address, proof, agent: to, attaches = false } = target;
  const token = proof?.token;
  const tls = credentialsOf(proof?.tls);
  const { clock, random } = platform;
  const who = { universe: from.universe, from: from.id, to };
  const peer = formatNetworkAddress(address);
  if (address.kind !== "unix") {
    const connect = (_port: number | undefined, signal: AbortSignal) => platform.connect(address, tls, signal);
    return dialLasting({
      clock,
      random,
      ...who,
      direct: !attaches,
      peer,
      token,
      handshakeMs: limit,
      connectMs,
      connect,
    });
  }
  const given = new AbortController();
  const timer = clock.after(limit, () => given.abort(new Error(`it did not answer within ${limit} ms`)));
  try {
    const pipe = await platform.connect(address, tls, given.signal);
    const link = { ...who, direct: !attaches, use: "link" as const, link: random.id(), first: true, received: 0 };
    const outcome = await offerLink(pipe, link, { clock, random, token, handshakeMs: limit });
    if (outcome.kind === "open") return outcome.pipe;
    throw new Error(`it sends this process to port ${outcome.port} for its agent, which has none`);
  } finally {
    timer.cancel();
  }
}
