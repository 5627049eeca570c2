/** The HTTP server of a keeper, at a Unix socket that only the user can reach. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Keeper } from "./keeper.js";
import { type HostOrder, type KeeperEvent, keeperSocket } from "./keeper-order.js";

/** Listens at the socket of a keeper. */
export async function serveKeeper(keeper: Keeper): Promise<Server> {
  const server = createServer((request, response) => {
    const { method, url } = request;
    // The keeper ends when its last connection has ended.
    response.shouldKeepAlive = false;
    if (method === "GET" && url === "/state") sendJson(response, keeper.state);
    else if (method === "GET" && url === "/events") sendEvents(keeper, request, response);
    else if (method === "POST" && url === "/end") {
      void keeper.end("it was killed").then(() => sendJson(response, {}));
    } else if (method === "POST" && url === "/hosts") {
      void text(request).then(async (orders) => {
        await keeper.addHosts(JSON.parse(orders) as HostOrder[]);
        sendJson(response, {});
      });
    } else if (method === "POST" && url?.startsWith("/give-back?")) {
      const { mesh = "", rank } = parametersOf(url);
      void keeper.giveBack({ mesh, rank: Number(rank) }).then(() => sendJson(response, {}));
    } else if (method === "POST" && url?.startsWith("/lost?")) {
      const { mesh = "", rank, incarnation } = parametersOf(url);
      sendJson(response, keeper.hostLost({ mesh, rank: Number(rank), incarnation: Number(incarnation) }));
    } else {
      response.statusCode = 404;
      response.end();
    }
  });
  // Connections of drivers stay open without traffic.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    const mask = process.umask(0o177);
    server.listen(join(keeper.order.directory, keeperSocket), resolve);
    process.umask(mask);
  });
  return server;
}

function parametersOf(url: string): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(new URL(url, "http://keeper").searchParams);
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(value));
}

/** Sends one event per line for as long as the driver lives. The connection tells the keeper that it does. */
function sendEvents(keeper: Keeper, request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  response.flushHeaders();
  const tell = (event: KeeperEvent) => {
    response.write(`${JSON.stringify(event)}\n`);
    if (event.ended !== undefined) response.end();
  };
  const remove = keeper.addDriver(tell);
  request.once("close", remove);
  response.once("close", remove);
}
