/** A network between a driver and a host that can be cut: connections end, or nothing passes any more and nobody is told. */
import { connect, createServer, type Socket } from "node:net";

export interface Network {
  /** In place of that of the host. */
  readonly address: string;
  /** Connections that pass. */
  readonly connections: number;
  /** Ends all connections; new ones can be made. */
  cut(): void;
  /** From now on nothing passes, in either direction, and no connection ends. */
  freeze(): void;
  /** What was held back goes on. */
  thaw(): void;
  /** Connections end, and none can be made any more. */
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
