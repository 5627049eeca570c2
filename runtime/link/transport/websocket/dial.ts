/** Opens WebSockets to driver gateways, directly or through a proxy. */
import type { Agent, IncomingMessage } from "node:http";
import { connect as connectTcp, isIP, type NetConnectOpts, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import { WebSocket } from "ws";
import { version } from "../../../version.js";
import { systemClock } from "../../clock.js";
import type { PausablePipe } from "../pipe.js";
import { MAX_HEADER_BYTES, socketOptions } from "./limits.js";
import { type MessageFraming, WebSocketPipe } from "./pipe.js";
import { connectThroughProxy, proxyFor } from "./proxy.js";
import { explainAnswer, explainFailure } from "./refusals.js";

/** The options with which a WebSocket is opened. Those of TLS are for `wss://`, and have nothing to do with TLS inside of the WebSocket. */
export interface DialWebSocketOptions
  extends Pick<ConnectionOptions, "ca" | "cert" | "key" | "servername" | "rejectUnauthorized"> {
  readonly headers?: Readonly<Record<string, string>>;
  /** The subprotocols that are offered. The server must select one of them. Default: none. */
  readonly protocols?: readonly string[];
  /** Makes the connection. Absent: it is made directly, or through the proxy that the environment names. */
  readonly agent?: Agent;
  /** Adds what the subprotocol wants to each message. Default: messages contain the bytes of the pipe alone. */
  readonly framing?: MessageFraming;
  /** Makes the error of an answer that is no WebSocket. Default: the error of a driver gateway. */
  readonly refused?: (response: IncomingMessage) => Promise<Error>;
}

/**
 * Opens a WebSocket. Redirections are not followed.
 *
 * @param url its scheme is `ws:` or `wss:`; a user and a password in it are sent as Basic authentication; without a fragment
 * @param signal aborts the attempt
 * @returns a promise that rejects with an error that says what answered in place of a WebSocket, or with the reason of the signal
 */
export async function dialWebSocket(
  url: URL,
  { headers = {}, protocols = [], agent, framing, refused, ...tls }: DialWebSocketOptions,
  signal: AbortSignal,
): Promise<PausablePipe> {
  signal.throwIfAborted();
  const proxy = agent === undefined ? proxyFor(url) : undefined;
  const below = proxy && (await connectThroughProxy(proxy, url, signal));
  const options = {
    ...socketOptions,
    ...tls,
    ...(agent === undefined ? { createConnection: connectorFor(url, below) } : { agent }),
    headers: { "User-Agent": `viceroy/${version}`, ...headers },
    maxHeaderSize: MAX_HEADER_BYTES,
    followRedirects: false,
  };
  return new Promise((resolve, reject) => {
    const webSocket = new WebSocket(url, [...protocols], options);
    let socket: Socket | undefined;
    const fail = (error: unknown) => {
      signal.removeEventListener("abort", abort);
      reject(error);
      webSocket.terminate();
    };
    const abort = () => fail(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    webSocket.once("upgrade", (response) => {
      socket = response.socket;
    });
    webSocket.once("unexpected-response", async (request, response) => {
      fail(refused === undefined ? explainAnswer(response, url) : await refused(response));
      request.destroy();
    });
    webSocket.once("open", () => {
      signal.removeEventListener("abort", abort);
      webSocket.off("error", failed);
      resolve(new WebSocketPipe(webSocket, socket!, systemClock, { framing }));
    });
    const failed = (error: Error) => fail(explainFailure(error, url));
    webSocket.on("error", failed);
  });
}

/**
 * Returns the function that makes the connection for a request. It keeps no process alive.
 * @param below the connection to the host through a proxy
 */
function connectorFor({ protocol }: URL, below: Socket | undefined) {
  return (given: unknown): Socket => {
    // The path is that of the request, and Node.js would take it for a socket of this machine.
    const options = { ...(given as NetConnectOpts & ConnectionOptions), path: undefined };
    if (protocol !== "wss:")
      return (
        below ??
        connectTcp(options as NetConnectOpts)
          .setNoDelay(true)
          .unref()
      );
    const { host = "", servername = isIP(host) ? "" : host } = options;
    return connectTls({ ...options, servername, ...(below && { socket: below }) } as ConnectionOptions).unref();
  };
}
