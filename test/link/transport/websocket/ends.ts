/** Both ends of WebSockets for tests: a listener with what it has accepted and refused, and peers that follow a script. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { systemClock } from "../../../../runtime/link/clock.js";
import type { PausablePipe } from "../../../../runtime/link/transport/pipe.js";
import type { HalfOpenLimits } from "../../../../runtime/link/transport/socket/half-open.js";
import { dialWebSocket, listenWebSocket } from "../../../../runtime/link/transport/websocket/index.js";
import { until } from "../../../proc/until.js";

export interface Served {
  readonly url: URL;
  readonly port: number;
  readonly accepted: PausablePipe[];
  readonly refusals: string[];
  close(): void;
}

/** Listens until the end of the test. Accepted peers count as admitted unless `admits` is false. */
export async function serve(limits: Partial<HalfOpenLimits> = {}, admits = true): Promise<Served> {
  const accepted: PausablePipe[] = [];
  const refusals: string[] = [];
  const listener = await listenWebSocket({
    address: { kind: "ws", host: "127.0.0.1", port: 0 },
    limits: { clock: systemClock, halfOpen: 64, handshakeMs: 60_000, ...limits },
    accept(pipe, _peer, admitted) {
      if (admits) admitted();
      accepted.push(pipe);
    },
    refused: (error) => refusals.push(error.message),
  });
  onTestFinished(() => {
    listener.close();
    for (const pipe of accepted) pipe.destroy();
  });
  const { port } = listener.address;
  return { url: new URL(`ws://127.0.0.1:${port}/any/path`), port, accepted, refusals, close: listener.close };
}

export const noSignal = () => new AbortController().signal;

/** Opens a WebSocket to a listener. @returns both ends */
export async function pair(served?: Served): Promise<[PausablePipe, PausablePipe]> {
  const target = served ?? (await serve());
  const before = target.accepted.length;
  const near = await dialWebSocket(target.url, {}, noSignal());
  onTestFinished(() => near.destroy());
  await until(() => target.accepted.length > before);
  return [near, target.accepted[before]!];
}

/** Listens with a function that gets each connection, until the end of the test. @returns the port */
export async function scripted(script: (socket: Socket, request: string) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let asked = "";
    socket.on("error", () => {});
    const read = (bytes: Buffer) => {
      asked += bytes.toString("latin1");
      if (!asked.includes("\r\n\r\n")) return;
      socket.off("data", read);
      script(socket, asked);
    };
    socket.on("data", read);
  });
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** A connection that a test writes bytes to, and what came back. */
export interface Raw {
  readonly socket: Socket;
  readonly text: () => string;
  readonly hasEnded: () => boolean;
}

export async function connectRaw(port: number): Promise<Raw> {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  let ended = false;
  socket.on("error", () => {});
  socket.on("data", (bytes: Buffer) => {
    text += bytes.toString("latin1");
  });
  socket.on("close", () => {
    ended = true;
  });
  onTestFinished(() => void socket.destroy());
  await new Promise((resolve) => socket.once("connect", resolve));
  return { socket, text: () => text, hasEnded: () => ended };
}

export const upgradeRequest =
  "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
  "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/** Opens a WebSocket by hand. Its frames are the test's. */
export async function upgradeRaw(port: number): Promise<Raw> {
  const raw = await connectRaw(port);
  raw.socket.write(upgradeRequest);
  await until(() => raw.text().includes("\r\n\r\n") || raw.hasEnded());
  return raw;
}

/** Returns a frame of a client whose mask is zero, so that its payload is on the wire as it is. */
export function frame(opcode: number, payload: Buffer, { fin = true, length = payload.length } = {}): Buffer {
  const head = Buffer.alloc(14);
  head[0] = (fin ? 0x80 : 0) | opcode;
  head[1] = 0x80 | 127;
  head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}
