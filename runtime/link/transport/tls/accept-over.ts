/** The listening side of TLS over connections that exist already, such as WebSockets. */
import { createSecureContext, createServer } from "node:tls";
import { writeTurnedAway } from "../../handshake/message.js";
import type { PausablePipe } from "../pipe.js";
import { PipeStream } from "../pipe-stream.js";
import { streamPipe } from "../socket/pipe.js";
import { judgePeer } from "./accepted-peer.js";
import { type AcceptTls, pemsOf, reloadCredentials, serverSettings } from "./connect.js";
import type { Credentials } from "./credentials.js";
import { notTlsCodes } from "./error-codes.js";

/** Takes a connection. @param admitted called when the peer has shown a certificate that is trusted */
export type TakePipe = (pipe: PausablePipe, peer: string, admitted: () => void) => void;

/**
 * Returns what takes connections and speaks TLS over them. The caller limits the number of connections that are not admitted,
 * and their time.
 * @param accept gets pipes only to peers with a valid certificate
 * @param refused called with the reason why a peer was refused
 */
export function tlsOverPipes(
  credentials: Credentials,
  accept: AcceptTls,
  refused: (error: Error, peer?: string) => void,
): TakePipe {
  let good = credentials.current();
  return (pipe, peer, admitted) => {
    good = reloadCredentials((next) => void createSecureContext(pemsOf(next)), credentials, good, refused);
    const { identity: own } = good;
    // A server of its own, because the events of a common one do not say to which connection they belong.
    const server = createServer({ ...pemsOf(good), ...serverSettings, requestCert: true, rejectUnauthorized: false });
    server.on("secureConnection", (socket) => {
      const verdict = judgePeer(socket, own);
      if (verdict.isTrusted) {
        admitted();
        accept(streamPipe(socket), peer, verdict.identity);
        return;
      }
      socket.on("error", () => {});
      socket.resume();
      socket.end(verdict.answer);
      refused(verdict.error, peer);
    });
    server.on("tlsClientError", (error: NodeJS.ErrnoException) => {
      if (!notTlsCodes.has(error.code ?? "")) {
        pipe.destroy();
        refused(error, peer);
        return;
      }
      // A driver that speaks no TLS understands this message.
      pipe.write([writeTurnedAway(undefined)], () => pipe.close());
      refused(new Error("it does not speak TLS", { cause: error }), peer);
    });
    server.emit("connection", new PipeStream(pipe));
  };
}
