/** A proxy between a driver and a host that can end connections, or silently stop forwarding. */
import { connect, createServer, type Socket } from "node:net";

export interface Network {
  /** The address to use in place of that of the host. */
  readonly address: string;
  /** Number of open connections. */
  readonly connections: number;
  /** Ends all connections. New ones can be opened. */
  cut(): void;
  /** Stops forwarding in both directions, without ending connections. */
  freeze(): void;
  /** Continues forwarding, starting with the delayed bytes. */
  thaw(): void;
  /** Ends all connections and refuses new ones. */
  close(): void;
}

export async function makeProxy(target: string): Promise<Network> {
  const port = Number(/:(\d+)$/.exec(target)?.[1]);
  const pairs = new Set<readonly [Socket, Socket]>();
  let frozen = false;
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    const pair = [near, far] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [far, near]] as const) {
      from.setNoDelay(true);
      from.on("error", () => {});
      from.on("data", (bytes: Buffer) => to.write(bytes));
      from.on("end", () => to.end());
      from.on("close", () => {
        pairs.delete(pair);
        if (!frozen) to.destroy();
      });
      if (frozen) from.pause();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const sockets = () => [...pairs].flat();
  const cut = () => {
    for (const socket of sockets()) socket.destroy();
  };
  return {
    address: `tcp://127.0.0.1:${(server.address() as { port: number }).port}`,
    get connections() {
      return pairs.size;
    },
    cut,
    freeze() {
      frozen = true;
      for (const socket of sockets()) socket.pause();
    },
    thaw() {
      frozen = false;
      for (const socket of sockets()) socket.resume();
    },
    close() {
      server.close();
      cut();
    },
  };
}
