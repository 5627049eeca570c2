/** A bare tunnel: `node relay.js <host> <port>` copies the bytes of TCP connections to that address, and prints its own port. */
import net from "node:net";
import { endWithParent } from "../harness/child.js";

const [, , host, port] = process.argv;
const server = net.createServer((near) => {
  const far = net.connect(Number(port), host).setNoDelay(true);
  near.setNoDelay(true).pipe(far).pipe(near);
  for (const socket of [near, far]) socket.on("error", () => {});
});
server.listen({ host, port: 0 }, () => {
  endWithParent();
  process.stdout.write(`${server.address().port}\n`);
});
