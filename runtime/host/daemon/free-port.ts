/** Finds a TCP port that no process listens on. */
import { type AddressInfo, createServer } from "node:net";

/** Returns a free port. Another process can take it before the caller uses it. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, () => found());
    const found = (): void => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    };
  });
}
