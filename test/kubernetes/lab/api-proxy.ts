/** A server between a job and the API server, which tests let fail as a network, a proxy or an API server does that has too much to do. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type RequestOptions, request } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { configText } from "../api/scripted-server.js";
import type { LabOfTests } from "./on-kubernetes.js";

/** A request of the job. */
export interface ProxiedRequest {
  readonly method: string;
  /** The path, with its query. */
  readonly url: URL;
  /** The token of the request. */
  readonly token: string;
  readonly isWatch: boolean;
}

/** What the proxy answers itself. */
export interface ProxyAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

export class ApiProxy {
  /** The kubeconfig file that leads to the proxy. Its token is "first". */
  readonly kubeconfig = path.join(mkdtempSync(path.join(tmpdir(), "vk-")), "kubeconfig");
  /** The requests that have come, in their order. */
  readonly asked: ProxiedRequest[] = [];
  /** Those that the API server has answered. */
  readonly passed: ProxiedRequest[] = [];
  /** Answers a request instead of the API server; undefined: it is passed on. */
  answer: (request: ProxiedRequest) => ProxyAnswer | undefined = () => undefined;
  /** The time in s after which the API server ends watches; undefined: as the job asks. */
  watchSeconds: number | undefined;
  /** What watches have told. */
  readonly told: { readonly type: string; readonly kind: string; readonly version: string }[] = [];
  readonly #lab: LabOfTests;
  readonly #server = createServer((incoming, response) => void this.#pass(incoming, response));
  readonly #watches = new Set<ServerResponse>();

  private constructor(lab: LabOfTests) {
    this.#lab = lab;
  }

  static async start(lab: LabOfTests): Promise<ApiProxy> {
    const proxy = new ApiProxy(lab);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    proxy.useToken("first");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Writes the kubeconfig file again. */
  useToken(token: string): void {
    writeFileSync(this.kubeconfig, configText(this.url, token));
  }

  /** Ends all watches, also those that have no answer yet. */
  cut(): void {
    for (const response of this.#watches) response.destroy();
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #note(line: string): void {
    const { type, object } = JSON.parse(line);
    this.told.push({ type, kind: object.kind, version: object.metadata?.resourceVersion });
  }

  async #pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url!, this.url);
    const isWatch = url.searchParams.get("watch") === "true";
    const token = (incoming.headers.authorization ?? "").replace("Bearer ", "");
    const asked = { method: incoming.method!, url, token, isWatch };
    this.asked.push(asked);
    const own = this.answer(asked);
    if (own !== undefined) {
      incoming.resume();
      response.writeHead(own.status, { "content-type": "application/json", ...own.headers }).end(own.body);
      return;
    }
    // A watch that has no answer yet is cut, too: it would go on with the settings that it was asked with.
    if (isWatch) this.#watches.add(response);
    if (isWatch && this.watchSeconds !== undefined) url.searchParams.set("timeoutSeconds", `${this.watchSeconds}`);
    const { config } = this.#lab;
    const options: RequestOptions = {};
    await config.applyToHTTPSOptions(options);
    const { authorization: _, host: __, ...headers } = incoming.headers;
    const target = `${config.getCurrentCluster()!.server}${url.pathname}${url.search}`;
    const passed = request(target, {
      ...options,
      method: incoming.method,
      headers: { ...headers, ...options.headers },
    });
    passed.on("response", (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      response.flushHeaders();
      this.passed.push(asked);
      if (isWatch) {
        let partial = "";
        answer.on("data", (bytes: Buffer) => {
          const lines = `${partial}${bytes}`.split("\n");
          partial = lines.pop()!;
          for (const line of lines) this.#note(line);
        });
      }
      answer.pipe(response);
      answer.on("error", () => response.destroy());
    });
    passed.on("error", () => response.destroy());
    response.on("close", () => {
      this.#watches.delete(response);
      passed.destroy();
    });
    incoming.pipe(passed);
  }
}
