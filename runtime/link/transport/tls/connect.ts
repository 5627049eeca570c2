/**
 * A byte pipe over TLS 1.3. Each end presents a certificate of an authority that the other end trusts. A peer without a
 * valid certificate cannot send a byte to a link.
 */

import { constants } from "node:crypto";
import type { AddressInfo, Socket } from "node:net";
import { connect, createServer, type Server, type TLSSocket } from "node:tls";
import { errorMessage } from "../../../../shared/text/error-message.js";
import type { Clock } from "../../clock.js";
import { HandshakeError } from "../../handshake/errors.js";
import { writeTurnedAway } from "../../handshake/message.js";
import type { Listener } from "../listener.js";
import { formatNetworkAddress, type SocketAddress } from "../network-address.js";
import type { Pipe } from "../pipe.js";
import { connectPipe, streamPipe } from "../socket/pipe.js";
import { listenError, peerAddress, tuneSocket } from "../tcp/connect.js";
import type { Credentials, TlsMaterial } from "./credentials.js";

/** The settings of both directions: TLS 1.3 only. */
const tlsVersion = { minVersion: "TLSv1.3", maxVersion: "TLSv1.3" } as const;

/** Sessions are not resumed, because a ticket would outlive a certificate that has expired or is not trusted any more. */
const serverSettings = { ...tlsVersion, secureOptions: constants.SSL_OP_NO_TICKET } as const;

export interface TlsLimits {
  readonly clock: Clock;
  /** The number of connections that have not presented their certificate yet. One more closes the oldest of them. */
  readonly halfOpen: number;
  /** The time limit for presenting the certificate, in milliseconds. */
  readonly handshakeMs: number;
}

/**
 * Connects to an address.
 * @param signal aborts the attempt
 * @returns a promise that rejects if no process listens there, or the peer has no certificate for that name
 */
export function connectTls(address: SocketAddress, credentials: Credentials, signal?: AbortSignal): Promise<Pipe> {
  const { host, port } = address;
  const peer = formatNetworkAddress(address);
  const make = (onread: Parameters<Parameters<typeof connectPipe>[0]>[0]) => {
    const options = { ...credentials.current(), ...tlsVersion, host, port, onread };
    return tuneSocket(connect(options));
  };
  return connectPipe(make, "secureConnect", peer, signal).catch((error: NodeJS.ErrnoException) => {
    throw explainTlsError(error);
  });
}

/** The OpenSSL codes for answers that are not TLS. */
const notTlsCodes = new Set(["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG", "ERR_SSL_HTTP_REQUEST"]);
/**
 * The OpenSSL and Node.js codes for certificates that are not trusted, such as `CERT_HAS_EXPIRED` and
 * `UNABLE_TO_GET_ISSUER_CERT`.
 */
const untrustedCodes = /CERT|ISSUER|CRL|LEAF_SIGNATURE|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|HOSTNAME_MISMATCH/;

/** Translates an OpenSSL error about the peer. */
function explainTlsError(error: NodeJS.ErrnoException): Error {
  const { code = "", message } = error;
  if (notTlsCodes.has(code)) {
    const text = "the host does not speak TLS; use tcp:// in its address, or start it with a certificate";
    return new HandshakeError("transport", text, { cause: error });
  }
  if (!untrustedCodes.test(code)) return error;
  const text = `this process does not trust the certificate of the host: ${message}`;
  return new HandshakeError("certificate", text, { cause: error });
}

/**
 * Listens at `address`, or at a free port if the port is 0. `accept` gets pipes only to peers with a valid certificate.
 * @param refused called with the reason why a peer was refused
 * @returns a promise that rejects if the address cannot be used, or the files are not a certificate and its key
 */
export function listenTls(
  address: SocketAddress,
  credentials: Credentials,
  limits: TlsLimits,
  accept: (pipe: Pipe, peer: string) => void,
  refused: (error: Error, peer?: string) => void = () => {},
): Promise<Listener> {
  const { host, port } = address;
  const pending = new HalfOpenConnections(limits);
  let good = credentials.current();
  return new Promise((resolve, reject) => {
    const server = createServer({ ...good, ...serverSettings, requestCert: true, rejectUnauthorized: false });
    // This runs before TLS reads from the connection.
    server.prependListener("connection", (socket: Socket) => {
      good = reloadCredentials(server, credentials, good, refused);
      pending.add(socket);
    });
    server.on("secureConnection", (socket: TLSSocket) => {
      const peer = peerAddress(socket);
      if (socket.authorized) {
        pending.delete(socket);
        accept(streamPipe(tuneSocket(socket)), peer);
        return;
      }
      // The check is here because Node.js would tell neither side the reason. The peer still counts as half-open, with
      // the limits for that.
      const fault = String(socket.authorizationError);
      socket.on("error", () => {});
      socket.resume();
      socket.end(writeTurnedAway(fault));
      refused(new Error(`it has shown no certificate that can be trusted: ${fault}`), peer);
    });
    server.on("tlsClientError", (error: NodeJS.ErrnoException, socket) => {
      const peer = peerAddress(socket);
      const raw = pending.find(socket);
      if (raw === undefined || !notTlsCodes.has(error.code ?? "")) {
        socket.destroy();
        refused(error, peer);
        return;
      }
      // A driver with a tcp:// address understands this message.
      raw.end(writeTurnedAway(undefined));
      refused(new Error("it does not speak TLS", { cause: error }), peer);
    });
    const failed = (error: Error) => reject(listenError(address, error));
    server.once("error", failed);
    server.listen({ host, port }, () => {
      server.off("error", failed);
      server.on("error", () => {});
      server.unref();
      resolve({
        address: { ...address, port: (server.address() as AddressInfo).port },
        close: () => void server.close(),
      });
    });
  });
}

/** The connections that have not presented their certificate yet. */
class HalfOpenConnections {
  readonly #limits: TlsLimits;
  readonly #sockets = new Map<string, Socket>();

  constructor(limits: TlsLimits) {
    this.#limits = limits;
  }

  add(socket: Socket): void {
    const { clock, halfOpen, handshakeMs } = this.#limits;
    const peer = peerAddress(socket);
    this.#sockets.set(peer, socket);
    // The limit counts from the start of the connection, and not from its last byte.
    const timer = clock.after(handshakeMs, () => {
      if (this.#sockets.delete(peer)) socket.destroy();
    });
    socket.once("close", () => {
      timer.cancel();
      this.#sockets.delete(peer);
    });
    const [oldest] = this.#sockets.values();
    if (oldest !== undefined && this.#sockets.size > halfOpen) {
      // The entry is removed at once. The end of the connection is reported later, and until then the next connections
      // would drop the same entry again.
      this.#sockets.delete(peerAddress(oldest));
      oldest.destroy();
    }
  }

  /** Returns the TCP socket below a TLS socket. */
  find(socket: TLSSocket): Socket | undefined {
    return this.#sockets.get(peerAddress(socket));
  }

  delete(socket: TLSSocket): void {
    this.#sockets.delete(peerAddress(socket));
  }
}

/**
 * Applies changed files.
 * @returns the contents that are in use
 */
function reloadCredentials(
  server: Server,
  credentials: Credentials,
  good: TlsMaterial,
  refused: (error: Error) => void,
): TlsMaterial {
  const next = credentials.current();
  if (next === good) return good;
  try {
    server.setSecureContext({ ...next, ...serverSettings });
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
