/** What a kubelet serves to the API server: the logs of containers, and the ports of pods. */

import type { ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { ContainerLog, LogLine } from "./container-log.js";
import { PortForwarder } from "./port-forwarder.js";

export interface KubeletServerOptions {
  readonly cert: string;
  readonly key: string;
  /** Returns a log of a container, or undefined if there is none. */
  readonly find: (namespace: string, pod: string, container: string, previous: boolean) => ContainerLog | undefined;
  /** Returns the address of a pod, or undefined if it has none. */
  readonly addressOf: (namespace: string, pod: string) => string | undefined;
}

export class KubeletServer {
  readonly #server: Server;
  readonly #find: KubeletServerOptions["find"];

  constructor({ cert, key, find, addressOf }: KubeletServerOptions) {
    this.#find = find;
    this.#server = createServer({ cert, key }, (request, response) =>
      this.#answer(new URL(request.url!, "https://kubelet"), response),
    );
    const ports = new PortForwarder(addressOf);
    this.#server.on("upgrade", (request, socket, head) => ports.upgrade(request, socket, head));
  }

  /** Listens on loopback. @returns the port */
  async start(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answer({ pathname, searchParams }: URL, response: ServerResponse): void {
    const [, kind, namespace, pod, container] = pathname.split("/");
    const log =
      kind === "containerLogs" && this.#find(namespace!, pod!, container!, searchParams.get("previous") === "true");
    if (!log) {
      response.writeHead(404).end(`previous terminated container "${container}" in pod "${pod}" not found`);
      return;
    }
    const write = ({ at, text }: LogLine) => {
      response.write(searchParams.get("timestamps") === "true" ? `${at.toISOString()} ${text}\n` : `${text}\n`);
    };
    const tail = Number(searchParams.get("tailLines") ?? Number.POSITIVE_INFINITY);
    const seconds = searchParams.get("sinceSeconds");
    const since =
      seconds !== null
        ? Date.now() - Number(seconds) * 1000
        : Date.parse(searchParams.get("sinceTime") ?? "1970-01-01");
    response.writeHead(200, { "content-type": "text/plain" });
    response.flushHeaders();
    const lines = log.lines.filter(({ at }) => at.getTime() >= since);
    lines.slice(Math.max(0, lines.length - tail)).forEach(write);
    if (searchParams.get("follow") !== "true") return void response.end();
    response.on(
      "close",
      log.follow(write, () => response.end()),
    );
  }
}
