/**
 * Answers the startup probe of a pod. A node asks once a second, so an answer that says "not yet" at once would cost up to a second of the start. The
 * answer therefore waits for the daemon, for as long as the node waits for an answer.
 */
import { createServer, type Socket } from "node:net";

/** Time in ms for which an answer waits. The node waits for 1,000 ms. */
const patienceMs = 750;

/** Further connections are closed at once: one node asks, one time after the other. */
const maxConnections = 16;

/**
 * Listens for the probe of the node.
 * @param failed told why that is not possible
 * @returns a function to call when the daemon listens
 */
export function answerStartupProbe(ip: string, port: number, failed: (reason: string) => void): () => void {
  let listens = false;
  const waiting = new Map<Socket, NodeJS.Timeout>();
  const answer = (socket: Socket) => {
    clearTimeout(waiting.get(socket));
    waiting.delete(socket);
    const status = listens ? "200 OK" : "503 Service Unavailable";
    socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
  };
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("close", () => {
      clearTimeout(waiting.get(socket));
      waiting.delete(socket);
    });
    // Whatever is asked, the answer is the same.
    socket.resume();
    socket.setTimeout(4 * patienceMs, () => socket.destroy());
    waiting.set(
      socket,
      setTimeout(() => answer(socket), listens ? 0 : patienceMs),
    );
  });
  server.maxConnections = maxConnections;
  server.on("error", (error) => failed(error.message));
  server.listen({ host: ip, port });
  server.unref();
  return () => {
    listens = true;
    for (const socket of [...waiting.keys()]) answer(socket);
  };
}
