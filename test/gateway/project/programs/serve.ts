/** Serves a mesh of shops over HTTP/2 and HTTP/1.1 on loopback. Prints both ports, and ends with its standard input. */
import { once } from "node:events";
import { createServer as createHttp1 } from "node:http";
import { createServer as createHttp2 } from "node:http2";
import type { AddressInfo } from "node:net";
import { Code } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { onUnhandledFault, thisHost } from "viceroy";
import { connectRoutes } from "viceroy/gateway";
import "../generated/registry.js";
import { SmallShop } from "../src/small-shop.js";

onUnhandledFault(() => {});
const procs = thisHost().spawnProcs({ shops: 2 });
const shops = procs.spawn("shops", SmallShop, "corner");
await shops.ready;
const routes = connectRoutes(shops, { codes: { SoldOutError: Code.FailedPrecondition } });
const handler = connectNodeAdapter({ routes });
const servers = [createHttp2(handler), createHttp1(handler)];
for (const server of servers) await once(server.listen(0, "127.0.0.1"), "listening");
console.log(JSON.stringify(servers.map((server) => (server.address() as AddressInfo).port)));
process.stdin.resume();
await once(process.stdin, "end");
await procs.stop();
// Clients may still have open connections.
process.exit();
