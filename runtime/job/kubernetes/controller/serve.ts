/** The HTTPS server of the controller: reads requests within their bounds, and answers them. What is decided is in provisions.ts. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { errorMessage } from "../../../../shared/text/error-message.js";
import { KubernetesError } from "../api/kubernetes-error.js";
import { longestRequest, provisionsPath } from "../provision/protocol.js";
import type { ControllerLog } from "./controller-log.js";
import { type Identification, UnknownAsker } from "./identify.js";
import { DeniedError, type Provisions } from "./provisions.js";
import { readRequest } from "./read-request.js";

/** Maximum number of connections, and times in ms for a request to arrive. */
const mostConnections = 4096;
const headersMs = 10_000;
const requestMs = 30_000;

/** An answer that is none of success. */
class HttpError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface ServedController {
  readonly key: string;
  readonly cert: string;
  readonly identification: Identification;
  /** Returns the provisions; undefined until those of an earlier controller have been restored. */
  readonly provisions: () => Provisions | undefined;
  readonly log: ControllerLog;
}

/** Returns a server that does not listen yet. */
export function makeServer({ key, cert, ...parts }: ServedController): Server {
  const options = { key, cert, minVersion: "TLSv1.3" as const, headersTimeout: headersMs, requestTimeout: requestMs };
  const server = createServer(options, (request, response) => {
    void answer(parts, request, response);
  });
  server.maxConnections = mostConnections;
  return server;
}

type Parts = Omit<ServedController, "key" | "cert">;

async function answer(parts: Parts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const [status, body] = await handle(parts, request, response);
    send(response, status, body);
  } catch (error) {
    const status = statusOf(error);
    if (status === 500) parts.log("failed", { what: request.url?.slice(0, 200), reason: errorMessage(error) });
    send(response, status, { error: errorMessage(error) });
  }
}

function statusOf(error: unknown): number {
  if (error instanceof HttpError || error instanceof UnknownAsker) return error.status;
  if (error instanceof DeniedError) return 403;
  if (error instanceof TypeError || error instanceof RangeError) return 400;
  if (error instanceof KubernetesError) return error.isTransient ? 503 : 422;
  return 500;
}

async function handle(
  { identification, provisions, log }: Parts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<readonly [number, unknown]> {
  const { method = "", url = "" } = request;
  if (method === "GET" && url === "/healthz") return [200, {}];
  const { pathname, searchParams } = new URL(url.slice(0, 1000), "https://controller");
  const place = new RegExp(`^${provisionsPath}(?:/([\\w-]{1,64})(?:/(lost))?)?$`).exec(pathname);
  if (place === null) throw new HttpError(404, `there is nothing at ${pathname.slice(0, 100)}`);
  const [, id, part] = place;
  const known = provisions();
  if (known === undefined) throw new HttpError(503, "the controller starts; ask again");
  const asker = await identification.identify(request.headers.authorization);
  if (id === undefined) {
    if (method !== "POST") throw new HttpError(405, `expected POST, got ${method}`);
    const asked = readRequest(await readJson(request));
    const grant = await known.grant(asker, asked);
    // A program that has ended meanwhile cannot end what it does not know.
    if (response.destroyed) void known.find(asker, grant.id)?.end("the program that has asked for it has gone");
    log("answered", { id: grant.id });
    return [201, grant];
  }
  const job = known.find(asker, id);
  if (job === undefined) {
    throw new HttpError(
      404,
      `the pod "${asker.pod}" has no hosts of the id ${id}; they have ended, or belong to another pod`,
    );
  }
  if (part === "lost") {
    if (method !== "POST") throw new HttpError(405, `expected POST, got ${method}`);
    job.lost(await readJson(request));
    return [200, {}];
  }
  if (method === "DELETE") {
    await job.end("the program that has asked for it has released it");
    return [200, job.state.now];
  }
  if (method !== "GET") throw new HttpError(405, `expected GET or DELETE, got ${method}`);
  job.renew();
  const closed = new AbortController();
  response.once("close", () => closed.abort());
  const state = await job.state.after(searchParams.get("after") ?? "", closed.signal);
  job.renew();
  return [200, state];
}

/** @throws HttpError if the body is too long, or no JSON */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > longestRequest) throw new HttpError(413, `a request has at most ${longestRequest} bytes`);
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString("utf8")) as unknown;
  } catch (cause) {
    throw new HttpError(400, `the request is not JSON: ${errorMessage(cause)}`);
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  if (response.destroyed || response.headersSent) return;
  const text = JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.end(text);
}
