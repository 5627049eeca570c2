/** Connects WebSockets of the API server with ports of pods, as a kubelet does that speaks `v4.channel.k8s.io`. */
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";

const protocol = "v4.channel.k8s.io";

export class PortForwarder {
  readonly #server = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => offered.has(protocol) && protocol,
  });
  readonly #addressOf: (namespace: string, pod: string) => string | undefined;

  /** @param addressOf returns the address of a pod. Pods of the stand-in have no loopback address of their own */
  constructor(addressOf: (namespace: string, pod: string) => string | undefined) {
    this.#addressOf = addressOf;
  }

  /** Takes a request for a WebSocket. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { pathname, searchParams } = new URL(request.url!, "https://kubelet");
    const [, kind, namespace, pod] = pathname.split("/");
    const host = kind === "portForward" ? this.#addressOf(namespace!, pod!) : undefined;
    if (host === undefined) {
      socket.end("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
      return;
    }
    // The API server calls it `ports`, and its kubelets `port`.
    const port = Number(searchParams.get("port") ?? searchParams.get("ports"));
    this.#server.handleUpgrade(request, socket, head, (webSocket) => forward(webSocket, host, port));
  }
}

function forward(webSocket: WebSocket, host: string, port: number): void {
  const number = Buffer.alloc(2);
  number.writeUInt16LE(port);
  for (const channel of [0, 1]) webSocket.send(Buffer.concat([Buffer.of(channel), number]));
  const target = connect({ host, port });
  target.on("data", (bytes) => {
    target.pause();
    webSocket.send(Buffer.concat([Buffer.of(0), bytes]), () => target.resume());
  });
  webSocket.on("message", (message: Buffer) => {
    if (target.write(message.subarray(1))) return;
    webSocket.pause();
    target.once("drain", () => webSocket.resume());
  });
  target.on("error", ({ message }) => {
    webSocket.send(Buffer.concat([Buffer.of(1), Buffer.from(`error forwarding port ${port} to pod: ${message}`)]));
  });
  target.on("close", () => webSocket.close());
  webSocket.on("close", () => target.destroy());
  webSocket.on("error", () => target.destroy());
}
