/**
 * A byte pipe over TLS 1.3. Each end presents a certificate of an authority that the other end trusts. A peer without a
 * valid certificate cannot send a byte to a link. If the certificate of this process has an identity in a job, peers
 * must have an identity in the same job, and the names of machines are not checked.
 */

import { constants } from "node:crypto";
import { createServer as createTcpServer, Socket } from "node:net";
import { type ConnectionOptions, connect, createServer, type PeerCertificate, type TLSSocket } from "node:tls";
import { errorMessage } from "../../../../shared/text/error-message.js";
import { systemClock } from "../../clock.js";
import { HandshakeError } from "../../handshake/errors.js";
import { writeTurnedAway } from "../../handshake/message.js";
import type { Listener } from "../listener.js";
import { formatNetworkAddress, type SocketAddress } from "../network-address.js";
import type { PausablePipe, Pipe } from "../pipe.js";
import { PipeStream } from "../pipe-stream.js";
import { sortConnection, type TakeDataConnection } from "../socket/data-connection.js";
import { HalfOpenConnections, type HalfOpenLimits } from "../socket/half-open.js";
import { connectPipe, streamPipe } from "../socket/pipe.js";
import { peerAddress, tuneSocket } from "../socket/socket.js";
import { startListening } from "../tcp/connect.js";
import { explainTimes, judgePeer } from "./accepted-peer.js";
import { clockFaultOf } from "./certificate-faults.js";
import type { Credentials, TlsContents, TlsMaterial } from "./credentials.js";
import { notTlsCodes, untrustedCodes } from "./error-codes.js";
import { formatIdentity, type Identity, identityInNames, type PeerIdentity, parseIdentity } from "./identity.js";

/** The settings of both directions: TLS 1.3 only. */
const tlsVersion = { minVersion: "TLSv1.3", maxVersion: "TLSv1.3" } as const;

/** Sessions are not resumed, because a ticket would outlive a certificate that has expired or is not trusted any more. */
export const serverSettings = { ...tlsVersion, secureOptions: constants.SSL_OP_NO_TICKET } as const;

export function pemsOf({ cert, key, ca }: TlsMaterial): TlsContents {
  return { cert, key, ca };
}

/** Gets the pipes to peers with a valid certificate. */
export type AcceptTls = (pipe: Pipe, peer: string, identity: PeerIdentity | undefined) => void;

/**
 * Connects to an address.
 * @param signal aborts the attempt
 * @param over a connection to the address that exists already; a new one is made without it
 * @returns a promise that rejects if no process listens there, or the peer has no certificate for that name or identity
 */
export async function connectTls(
  address: SocketAddress,
  credentials: Credentials,
  signal?: AbortSignal,
  over?: PausablePipe | Socket,
): Promise<PausablePipe> {
  const material = credentials.current();
  const checks =
    address.isAnyHost === true && material.identity !== undefined
      ? hostChecks(material.identity)
      : identityChecks(material.identity, address.identity);
  return connectChecked(address, material, checks, signal, over);
}

/**
 * Checks that a host of the job of this process listens at an address, whichever it is.
 * @param credentials those of this process, which has an identity in its job
 * @param signal aborts the attempt
 * @returns a promise that rejects if something else listens there, or nothing
 */
export async function checkIsHost(
  { host, port }: SocketAddress,
  credentials: Credentials,
  signal: AbortSignal,
): Promise<void> {
  const material = credentials.current();
  const checks = hostChecks(material.identity);
  (await connectChecked({ kind: "tls", host, port }, material, checks, signal)).destroy();
}

async function connectChecked(
  address: SocketAddress,
  material: TlsMaterial,
  checks: IdentityChecks,
  signal?: AbortSignal,
  over?: PausablePipe | Socket,
): Promise<PausablePipe> {
  const { host, port } = address;
  const peer = formatNetworkAddress(address);
  let presented: PeerCertificate | undefined;
  const make = (...[onread, receive]: Parameters<Parameters<typeof connectPipe>[0]>) => {
    const options = { ...pemsOf(material), ...tlsVersion, ...checks, host, port };
    // A TLS socket over another stream ignores `onread`.
    const socket =
      over === undefined
        ? tuneSocket(connect({ ...options, onread } as ConnectionOptions))
        : connect({ ...options, socket: over instanceof Socket ? over : new PipeStream(over) }).on("data", receive);
    // Node.js closes the socket before it reports a certificate that is not trusted. This event comes before.
    socket.prependOnceListener("secure", () => {
      presented = socket.getPeerCertificate();
    });
    return socket;
  };
  try {
    return await connectPipe(make, "secureConnect", peer, signal);
  } catch (error) {
    throw explainTlsError(error as NodeJS.ErrnoException, presented);
  }
}

type IdentityChecks = Pick<ConnectionOptions, "checkServerIdentity">;

/**
 * Returns the options with which the identity of the peer is checked in place of its name.
 * @throws HandshakeError if the certificate of this process cannot prove that it belongs to the job of the peer
 */
function identityChecks(own: Identity | undefined, expected: string | undefined): IdentityChecks {
  if (own === undefined && expected === undefined) return {};
  if (own === undefined) {
    throw new HandshakeError("certificate", `${expected} expects a certificate of its job, and this process has none`);
  }
  if (expected === undefined) {
    const text =
      `this process is ${formatIdentity(own)}, which connects to hosts of its job only; the address must say which ` +
      "host is expected, as in tls://host:port#viceroy://job/hosts/mesh/rank";
    throw new HandshakeError("certificate", text);
  }
  if (parseIdentity(expected).job !== own.job) {
    const text = `${expected} is of another job than this process, which is ${formatIdentity(own)}`;
    throw new HandshakeError("certificate", text);
  }
  return { checkServerIdentity: (_, { subjectaltname }) => identityFault(expected, subjectaltname) };
}

function identityFault(expected: string, alternativeNames: string | undefined): Error | undefined {
  const identity = identityInNames(alternativeNames);
  const got = identity === undefined ? `a certificate for ${alternativeNames ?? "no name"}` : formatIdentity(identity);
  if (got === expected) return undefined;
  const text = `another process answers at the address of the host: expected ${expected}, got ${got}`;
  return new HandshakeError("certificate", text);
}

/** Returns the options that let any host of the job of this process answer. */
function hostChecks(own: Identity | undefined): IdentityChecks {
  return {
    checkServerIdentity: (_, { subjectaltname }) => {
      const identity = identityInNames(subjectaltname);
      if (own !== undefined && identity?.role === "host" && identity.job === own.job) return undefined;
      const got = subjectaltname ?? "no name";
      const text = `another process answers at the address: expected a host of the job of this process, got ${got}`;
      return new HandshakeError("certificate", text);
    },
  };
}

/**
 * Translates an OpenSSL error about the peer.
 * @param presented the certificate of the peer, if it has presented one
 */
function explainTlsError(error: NodeJS.ErrnoException, presented: PeerCertificate | undefined): Error {
  const { code = "", message } = error;
  if (notTlsCodes.has(code)) {
    const text =
      "the host does not speak TLS; start it with a certificate, or use tcp:// in its address, or leave out the option tls " +
      "if its address is the URL of a WebSocket";
    return new HandshakeError("transport", text, { cause: error });
  }
  if (!untrustedCodes.test(code)) return error;
  const times = explainTimes(clockFaultOf(code, presented, systemClock.epochMs()));
  const text = `this process does not trust the certificate of the host: ${message}${times}`;
  return new HandshakeError("certificate", text, { cause: error });
}

/**
 * Listens at `address`, or at a free port if the port is 0. `accept` gets pipes only to peers with a valid certificate.
 * @param refused called with the reason why a peer was refused
 * @param data takes data connections, which do not speak TLS with this process; without it, they are refused
 * @returns a promise that rejects if the address cannot be used, or the files are not a certificate and its key
 */
export async function listenTls(
  address: SocketAddress,
  credentials: Credentials,
  limits: HalfOpenLimits,
  accept: AcceptTls,
  refused: (error: Error, peer?: string) => void = () => {},
  data?: TakeDataConnection,
): Promise<Listener> {
  const pending = new HalfOpenConnections(limits);
  let good = credentials.current();
  const server = createServer({ ...pemsOf(good), ...serverSettings, requestCert: true, rejectUnauthorized: false });
  const takeSocket = (socket: Socket, seen?: Buffer) => {
    const use = (next: TlsMaterial) => server.setSecureContext({ ...pemsOf(next), ...serverSettings });
    good = reloadCredentials(use, credentials, good, refused);
    if (seen !== undefined) socket.unshift(seen);
    server.emit("connection", socket);
  };
  // TLS is spoken by a server that does not listen itself, because what is not TLS must be known before TLS reads.
  const front = createTcpServer((socket) => {
    pending.add(socket);
    if (data === undefined) takeSocket(socket);
    else sortConnection(socket, pending, data, takeSocket);
  });
  server.on("secureConnection", (socket: TLSSocket) => {
    const peer = peerAddress(socket);
    const verdict = judgePeer(socket, good.identity);
    if (verdict.isTrusted) {
      pending.delete(socket);
      accept(streamPipe(tuneSocket(socket)), peer, verdict.identity);
      return;
    }
    // The peer still counts as half-open, with the limits for that.
    socket.on("error", () => {});
    socket.resume();
    socket.end(verdict.answer);
    refused(verdict.error, peer);
  });
  server.on("tlsClientError", (error: NodeJS.ErrnoException, socket) => {
    const peer = peerAddress(socket);
    const raw = pending.find(socket);
    // A peer that leaves was not refused. Kubernetes and load balancers find out so whether somebody listens.
    if (error.code === "ECONNRESET") {
      socket.destroy();
      return;
    }
    if (raw === undefined || !notTlsCodes.has(error.code ?? "")) {
      socket.destroy();
      refused(error, peer);
      return;
    }
    // A driver with a tcp:// address understands this message.
    raw.end(writeTurnedAway(undefined));
    refused(new Error("it does not speak TLS", { cause: error }), peer);
  });
  return startListening(front, address);
}

/**
 * Applies changed files.
 * @param use applies their contents; throws if that is not possible
 * @returns the contents that are in use
 */
export function reloadCredentials(
  use: (next: TlsMaterial) => void,
  credentials: Credentials,
  good: TlsMaterial,
  refused: (error: Error) => void,
): TlsMaterial {
  const next = credentials.current();
  if (next === good) return good;
  try {
    use(next);
    return next;
  } catch (cause) {
    credentials.keepUsing(good);
    const why = errorMessage(cause);
    refused(
      new Error(`cannot use the files for TLS that have changed: ${why}; those from before stay in use`, { cause }),
    );
    return good;
  }
}
