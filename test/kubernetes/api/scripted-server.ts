/** An API server that answers as a test says, over HTTP, and a kubeconfig file that leads to it. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { openAccess } from "../../../runtime/job/kubernetes/api/cluster-access.js";
import { HttpApi } from "../../../runtime/job/kubernetes/api/http-api.js";

export interface ScriptedServer {
  readonly url: string;
  readonly kubeconfig: string;
  /** The requests that have come: method and path with its query. */
  readonly asked: readonly string[];
  /** Writes the kubeconfig file again. */
  useToken(token: string): void;
  open(): Promise<HttpApi>;
  close(): Promise<void>;
}

export type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** @param port a port that was used before; 0 for a free one */
export async function scriptedServer(answer: Answer, port = 0): Promise<ScriptedServer> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => answer(request, response, Buffer.concat(parts).toString()));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const kubeconfig = path.join(mkdtempSync(path.join(tmpdir(), "kube-")), "config");
  const useToken = (token: string) => writeFileSync(kubeconfig, configText(url, token));
  useToken("first");
  return {
    url,
    kubeconfig,
    asked,
    useToken,
    open: async () => new HttpApi(await openAccess({ kubeconfig, context: null }), "lab"),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Returns the text of a kubeconfig file with the contexts "work" and "play". */
export function configText(server: string, token = "first"): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "here", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "alice", user: { token } }],
    contexts: ["work", "play"].map((name) => ({ name, context: { cluster: "here", user: "alice" } })),
    "current-context": "work",
  });
}

/** Answers with an object. */
export function answerJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

/** Answers as the API server refuses. */
export function refuse(response: ServerResponse, code: number, reason: string, message: string): void {
  answerJson(response, { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message }, code);
}
