/** An API server that answers as a test says. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { RetryWorld } from "../../../runtime/job/retry.js";
import { findAccess } from "../../../runtime/job/skypilot/api/access.js";
import { Exchange } from "../../../runtime/job/skypilot/api/exchange.js";
import { SkyPilotApi } from "../../../runtime/job/skypilot/api/skypilot-api.js";

export interface ScriptedServer {
  readonly url: string;
  readonly api: SkyPilotApi;
  readonly exchange: Exchange;
  /** The requests that have come: method and path with its query. */
  readonly asked: readonly string[];
  /** The pauses in ms between attempts, which take no time. */
  readonly pauses: readonly number[];
}

export type Answer = (request: IncomingMessage, response: ServerResponse, attempt: number) => void;

/** The headers of the release of SkyPilot for which the client is written. */
export const current = {
  "x-skypilot-api-version": "62",
  "x-skypilot-version": "0.14.1",
  "x-skypilot-request-id": "r-1",
};

/** @param answer answers a request, of which `attempt` have come to its path before */
export async function scriptedServer(answer: Answer): Promise<ScriptedServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const line = `${request.method} ${request.url}`;
    const attempt = asked.filter((each) => each === line).length;
    asked.push(line);
    request.resume().on("end", () => answer(request, response, attempt));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const access = await findAccess(url, { env: {}, home: "/nowhere", cwd: "/nowhere", now: 0 });
  const pauses: number[] = [];
  let now = 0;
  const world: RetryWorld = {
    now: () => now,
    random: () => 1,
    pause: async (ms, signal) => {
      signal?.throwIfAborted();
      pauses.push(ms);
      now += ms;
    },
  };
  return { url, asked, pauses, api: new SkyPilotApi(access, world), exchange: new Exchange(access) };
}

/** Answers with JSON, as the current release does. */
export function answerJson(response: ServerResponse, body: unknown, status = 200, headers = {}): void {
  response.writeHead(status, { ...current, ...headers }).end(JSON.stringify(body));
}

/** Answers with what has become of a request. */
export function answerResult(response: ServerResponse, value: unknown, status = "SUCCEEDED"): void {
  answerJson(response, {
    request_id: "r-1",
    name: "sky.status",
    status,
    return_value: JSON.stringify(value),
    error: null,
  });
}
