/** capnweb over a WebSocket (ws) on a Unix socket. Each call is awaited, so promise pipelining has no effect. */
import http from "node:http";
import { newWebSocketRpcSession, RpcTarget } from "capnweb";
import { WebSocket, WebSocketServer } from "ws";

globalThis.WebSocket ??= WebSocket; // capnweb reads its constants; Node.js 20 has none.

class Echo extends RpcTarget {
  echo(record) {
    return record;
  }
}

export async function serve(path) {
  const server = http.createServer();
  new WebSocketServer({ server, perMessageDeflate: false }).on("connection", (socket) =>
    newWebSocketRpcSession(socket, new Echo()),
  );
  await new Promise((resolve) => server.listen(path, resolve));
}

export async function connect(path) {
  const socket = new WebSocket(`ws+unix:${path}:/`, { perMessageDeflate: false });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const session = newWebSocketRpcSession(socket);
  return { call: (record) => session.echo(record), close: () => socket.close() };
}
