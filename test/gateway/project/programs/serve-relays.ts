/**
 * Serves relays over HTTP/2 on loopback. Prints its port and the warnings of the gateway, and ends with its standard
 * input. The optional argument is the registry of the build that the process of the relays runs.
 */
import { once } from "node:events";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { pathToFileURL } from "node:url";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { onUnhandledFault, thisHost } from "viceroy";
import { connectRoutes } from "viceroy/gateway";
import "../generated/registry.js";
import { TrustingRelay } from "../src/trusting-relay.js";

onUnhandledFault(() => {});
const [registry] = process.argv.slice(2);
const options = registry === undefined ? {} : { registry: () => pathToFileURL(registry) };
const procs = thisHost().spawnProcs({}, options);
const relays = procs.spawn("relays", TrustingRelay);
await relays.ready;
const warnings: string[] = [];
process.on("warning", ({ name, message }) => {
  if (name === "ViceroyGateway") warnings.push(message);
});
const server = createServer(connectNodeAdapter({ routes: connectRoutes(relays) }));
await once(server.listen(0, "127.0.0.1"), "listening");
console.log(JSON.stringify({ port: (server.address() as AddressInfo).port, warnings }));
process.stdin.resume();
await once(process.stdin, "end");
await procs.stop();
// Clients may still have open connections.
process.exit();
