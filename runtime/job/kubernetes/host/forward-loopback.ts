/**
 * Connections that an API server forwards to a pod arrive at the loopback address of the pod, and a host listens at the address by which
 * other hosts reach it. This passes them on.
 */
import { connect, createServer, type Server } from "node:net";

/** Passes connections to a port of the loopback address on to the same port of another address of this machine. @param failed told why that is not possible */
export function forwardLoopback(port: number, to: string, failed: (reason: string) => void): void {
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ host: to, port, allowHalfOpen: true });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.setNoDelay(true).pipe(other);
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  listenAt(server, port, ["127.0.0.1", "::1"], failed);
  server.unref();
}

/** Listens at the first of the addresses that the machine has. */
function listenAt(
  server: Server,
  port: number,
  [host, ...others]: readonly string[],
  failed: (reason: string) => void,
): void {
  const tryNext = (error: Error) => {
    if (others.length > 0 && (error as NodeJS.ErrnoException).code === "EADDRNOTAVAIL") {
      listenAt(server, port, others, failed);
    } else failed(error.message);
  };
  server.once("error", tryNext);
  server.listen({ host, port }, () => {
    server.off("error", tryNext);
    // Accepting fails while no file descriptor is free. The waiting connections are accepted later.
    server.on("error", () => {});
  });
}
