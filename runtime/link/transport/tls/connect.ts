/**
 * A byte pipe over TLS 1.3: both ends show a certificate of an authority that the other one trusts. Who has none, or one
 * that has expired, does not get as far as sending a byte to a link.
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

/** Nothing older, in either direction. */
const tlsVersion = { minVersion: "TLSv1.3", maxVersion: "TLSv1.3" } as const;

/** A certificate that has expired or whose authority is not trusted any more must not live on in a ticket. */
const serverSettings = { ...tlsVersion, secureOptions: constants.SSL_OP_NO_TICKET } as const;

export interface TlsLimits {
  readonly clock: Clock;
  /** Connections that have not shown their certificate yet; one more ends the oldest of them. */
  readonly halfOpen: number;
  /** How long showing it may take, in ms. */
  readonly handshakeMs: number;
}

/**
 * @param signal gives the attempt up
 * @returns rejects when nobody listens there, or somebody without a certificate for that name
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

/** Codes of OpenSSL for what cannot be the answer of anybody who speaks TLS. */
const notTlsCodes = new Set(["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG", "ERR_SSL_HTTP_REQUEST"]);
/** Codes of OpenSSL and Node.js for certificates that are not trusted: `CERT_HAS_EXPIRED`, `UNABLE_TO_GET_ISSUER_CERT`. */
const untrustedCodes = /CERT|ISSUER|CRL|LEAF_SIGNATURE|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|HOSTNAME_MISMATCH/;

/** Explains OpenSSL's error about the other side. */
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
 * Listens at `address`; port 0: at one that is free. `accept` gets pipes to peers with a good certificate, no others.
 * @param refused is told why a peer was not let in
 * @returns rejects when the address cannot be listened at, or the files are no certificate and its key
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
    // Before TLS gets to see the connection.
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
      // Here and not in Node, which would tell neither side why. The peer still counts as pending, with its limits.
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
      // A driver that was given a tcp:// address understands this.
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

/** Connections that have not shown their certificate yet. */
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
    // From its beginning, and not from the last byte that came.
    const timer = clock.after(handshakeMs, () => {
      if (this.#sockets.delete(peer)) socket.destroy();
    });
    socket.once("close", () => {
      timer.cancel();
      this.#sockets.delete(peer);
    });
    const [oldest] = this.#sockets.values();
    if (oldest !== undefined && this.#sockets.size > halfOpen) {
      // At once: its end is told later, and until then the next ones would drop the same one again.
      this.#sockets.delete(peerAddress(oldest));
      oldest.destroy();
    }
  }

  /** The connection below a socket of TLS. */
  find(socket: TLSSocket): Socket | undefined {
    return this.#sockets.get(peerAddress(socket));
  }

  delete(socket: TLSSocket): void {
    this.#sockets.delete(peerAddress(socket));
  }
}

/** Takes over files that have changed. @returns what is in use */
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
