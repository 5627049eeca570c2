/**
 * Serves shops to clients of another origin, which must have a token, over HTTP/1.1 and HTTP/2 on loopback. The argument
 * is the origin. Prints both ports, and ends with its standard input.
 */
import { once } from "node:events";
import { createServer as createHttp1, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttp2, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import type { AddressInfo } from "node:net";
import { Code, ConnectError, cors, type Interceptor } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { onUnhandledFault, thisHost } from "viceroy";
import { connectRoutes } from "viceroy/gateway";
import "../generated/registry.js";
import { SmallShop } from "../src/small-shop.js";

const [origin = ""] = process.argv.slice(2);
onUnhandledFault(() => {});
const procs = thisHost().spawnProcs({ shops: 2 });
const shops = procs.spawn("shops", SmallShop, "corner");
await shops.ready;

const authenticate: Interceptor = (next) => (request) => {
  if (request.header.get("Authorization") === "Bearer open") return next(request);
  throw new ConnectError("this token is not known", Code.Unauthenticated);
};
const routes = connectRoutes(shops, { codes: { SoldOutError: Code.FailedPrecondition } });
const handler = connectNodeAdapter({ routes, interceptors: [authenticate] });

/** Permits the page of the other origin, and nobody else, to call. */
function withCors(request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse): void {
  response.setHeader("Vary", "Origin");
  if (request.headers.origin === origin) {
    response.setHeader("Access-Control-Allow-Origin", origin);
    response.setHeader("Access-Control-Allow-Methods", cors.allowedMethods.join(", "));
    response.setHeader(
      "Access-Control-Allow-Headers",
      [...cors.allowedHeaders, "Authorization", "traceparent"].join(", "),
    );
    response.setHeader("Access-Control-Expose-Headers", cors.exposedHeaders.join(", "));
  }
  if (request.method === "OPTIONS") {
    response.statusCode = 204;
    response.end();
  } else handler(request, response);
}

const servers = [createHttp2(withCors), createHttp1(withCors)];
for (const server of servers) await once(server.listen(0, "127.0.0.1"), "listening");
console.log(JSON.stringify(servers.map((server) => (server.address() as AddressInfo).port)));
process.stdin.resume();
await once(process.stdin, "end");
await procs.stop();
// Clients may still have open connections.
process.exit();
