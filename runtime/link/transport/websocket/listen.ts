/**
 * Accepts WebSockets for a host, at any path, and answers whatever else asks at the same port. Peers are not authenticated here:
 * what is sent inside of a WebSocket proves who they are.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { WebSocketServer } from "ws";
import type { Listener } from "../listener.js";
import type { WebSocketAddress } from "../network-address.js";
import type { PausablePipe } from "../pipe.js";
import { HalfOpenConnections, type HalfOpenLimits } from "../socket/half-open.js";
import { peerAddress, tuneSocket } from "../socket/socket.js";
import { startListening } from "../tcp/connect.js";
import { MAX_HEADER_BYTES, socketOptions } from "./limits.js";
import { WebSocketPipe } from "./pipe.js";

export interface WebSocketListenerOptions {
  readonly address: WebSocketAddress;
  /** The limits on connections whose peers have not been let in yet. */
  readonly limits: HalfOpenLimits;
  /**
   * Takes a WebSocket.
   * @param peer the address of the peer, which is often that of a proxy
   * @param admitted to be called when the limits on the connection end, because its peer has been let in or others limit it
   */
  accept(pipe: PausablePipe, peer: string, admitted: () => void): void;
  /** Called with the reason why a connection was refused. */
  refused(error: Error, peer?: string): void;
}

/** @returns a promise that rejects if the address cannot be used */
export function listenWebSocket({
  address,
  limits,
  accept,
  refused,
}: WebSocketListenerOptions): Promise<Listener<WebSocketAddress>> {
  const pending = new HalfOpenConnections(limits);
  const upgrades = new WebSocketServer({ ...socketOptions, noServer: true, clientTracking: false });
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, answerRequest);
  server.prependListener("connection", (socket: Socket) => pending.add(socket));
  server.on("upgrade", (request, stream, head) => {
    const socket = stream as Socket;
    const peer = peerAddress(socket);
    upgrades.handleUpgrade(request, socket, head, (webSocket) => {
      const pipe = new WebSocketPipe(webSocket, tuneSocket(socket), limits.clock);
      accept(pipe, peer, () => pending.delete(socket));
    });
  });
  upgrades.on("wsClientError", (error, stream) => {
    refused(new Error(`it has asked for no WebSocket: ${error.message}`), peerAddress(stream as Socket));
    endWith(stream as Socket, "400 Bad Request");
  });
  server.on("clientError", (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    // Load balancers look whether something listens, and end the connection without a word.
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    refused(new Error(`it does not speak HTTP: ${error.message}`), peerAddress(socket));
    endWith(socket, error.code === "HPE_HEADER_OVERFLOW" ? "431 Request Header Fields Too Large" : "400 Bad Request");
  });
  return startListening(server, address);
}

/** Answers probes, and tells everybody else what this is. The connection is not used again, so that it counts as half-open only once. */
function answerRequest({ method, url = "" }: IncomingMessage, response: ServerResponse): void {
  const isProbe = /^\/healthz(?:\?|$)/.test(url) && (method === "GET" || method === "HEAD");
  const [status, text] = isProbe
    ? [200, "ok\n"]
    : [
        426,
        "This is a driver gateway of Viceroy, which programs reach by WebSocket, with the option through of attachHosts.\n",
      ];
  response.writeHead(status, {
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Length": Buffer.byteLength(text),
    Connection: isProbe ? "close" : "close, Upgrade",
    ...(isProbe ? {} : { Upgrade: "websocket" }),
  });
  response.end(text);
}

function endWith(socket: Socket, status: string): void {
  socket.once("finish", () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
