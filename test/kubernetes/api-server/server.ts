/**
 * The stand-in API server: a part of Kubernetes that is large enough for the tests of jobs, in the process of the test,
 * without root. The same tests run against the real API server, so that the two agree.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { parse } from "yaml";
import { attributesOf, authorize, authorizeApplied, hasAccount, systemMasters, type User } from "./authorization.js";
import { forwardPort } from "./forward-port.js";
import {
  type Answer,
  createObject,
  deleteMany,
  deleteOne,
  getObject,
  listObjects,
  patchObject,
  updateObject,
} from "./objects.js";
import { type ApiRequest, parseRequest } from "./request.js";
import { groupVersion, type Resource, resources } from "./resources.js";
import { review } from "./reviews.js";
import { badRequest, StatusError } from "./status-error.js";
import { Store } from "./store.js";
import { bind, evict, forwardLog, issueToken } from "./subresources.js";
import { watchObjects } from "./watches.js";

export interface ApiServerOptions {
  /** The certificate of the server and its key, in PEM. */
  readonly cert: string;
  readonly key: string;
  /** The token of the administrator. */
  readonly adminToken: string;
}

/** What a client may send at most, in bytes, as with the real API server. */
const longestBody = 3 * 1024 * 1024;

export class StandInApiServer {
  readonly store = new Store();
  readonly #options: ApiServerOptions;
  readonly #tokens = new Map<string, User>();
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  constructor(options: ApiServerOptions) {
    this.#options = options;
    this.#tokens.set(options.adminToken, { name: "admin", groups: [systemMasters, "system:authenticated"] });
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  /** Listens on loopback: at first on a free port, and after `stop` on the same one. */
  async start(): Promise<void> {
    const { cert, key } = this.#options;
    const server = createServer({ cert, key }, (request, response) => void this.#answer(request, response));
    server.on("upgrade", (request: IncomingMessage, socket: Duplex) => this.#upgrade(request, socket));
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => server.on("error", reject).listen(this.#port, "127.0.0.1", resolve));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Ends all connections, and refuses new ones. The objects stay. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    const closed = new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const answer = await this.#handle(request, response);
      if (answer !== undefined) send(response, answer);
    } catch (error) {
      if (response.headersSent || response.destroyed) return;
      if (error instanceof StatusError) send(response, { code: error.code, body: error.status });
      else
        send(response, {
          code: 500,
          body: new StatusError(500, "InternalError", String((error as Error).stack)).status,
        });
    }
  }

  #upgrade(request: IncomingMessage, socket: Duplex): void {
    try {
      const user = this.#userOf(request);
      const wanted = parseRequest("GET", new URL(request.url!, this.url));
      if (wanted?.subresource !== "portforward") throw badRequest("unable to upgrade");
      const { resource, namespace, name, subresource } = wanted;
      // WebSockets begin with a GET, and must not do what a user may not create.
      for (const verb of ["get", "create"])
        authorize(this.store, user, attributesOf(verb, resource, namespace, name, subresource));
      forwardPort(this.store, wanted, request, socket);
    } catch (error) {
      const { code, status } =
        error instanceof StatusError ? error : new StatusError(500, "InternalError", String((error as Error).stack));
      const body = JSON.stringify(status);
      socket.end(
        `HTTP/1.1 ${code} Refused\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
      );
    }
  }

  #userOf({ headers }: IncomingMessage): User {
    const user = this.#tokens.get(/^Bearer (.*)$/.exec(headers.authorization ?? "")?.[1] ?? "");
    // A token for somebody else is none for the API server.
    const isForThis = user?.audiences === undefined;
    if (user === undefined || !isForThis || !hasAccount(this.store, user))
      throw new StatusError(401, "Unauthorized", "Unauthorized");
    return user;
  }

  /** @returns undefined if the response has been begun */
  async #handle(request: IncomingMessage, response: ServerResponse): Promise<Answer | undefined> {
    const url = new URL(request.url!, this.url);
    if (["/readyz", "/livez", "/healthz"].includes(url.pathname)) return void response.end("ok");
    const user = this.#userOf(request);
    const { value, type } = await bodyOf(request);
    const about =
      discovery(url.pathname) ?? review(this.store, url.pathname, user, value, (token) => this.#tokens.get(token));
    if (about !== undefined) return about;
    const wanted = parseRequest(request.method!, url);
    if (wanted === undefined)
      throw new StatusError(404, "NotFound", "the server could not find the requested resource");
    const { verb, resource, namespace, name, subresource, query } = wanted;
    const own = resource.plural === "namespaces" ? name : namespace;
    authorize(this.store, user, attributesOf(verb, resource, own, name, subresource));
    if (type === "application/apply-patch+yaml" && this.store.find(resource, namespace, name!) === undefined) {
      authorizeApplied(this.store, user, attributesOf("create", resource, namespace, name));
    }
    if (verb === "watch") return void watchObjects(this.store, wanted, response);
    if (subresource === "log") return void forwardLog(this.store, wanted, response);
    const agent = (request.headers["user-agent"] ?? "unknown").split("/")[0]!;
    const call = () => this.#execute(wanted, { type, value, agent });
    const dryRun = query.getAll("dryRun");
    if (dryRun.length === 0) return call();
    if (dryRun.some((mode) => mode !== "All")) throw badRequest(`invalid dry run value: ${dryRun}`);
    return this.store.dryRun(call);
  }

  #execute(request: ApiRequest, content: { type: string; value: unknown; agent: string }): Answer {
    const { verb, subresource } = request;
    if (subresource === "eviction") return evict(this.store, request, content.value);
    if (subresource === "binding") return bind(this.store, request, content.value);
    if (subresource === "token") return issueToken(this.store, request, content.value, this.#tokens);
    switch (verb) {
      case "get":
        return getObject(this.store, request);
      case "list":
        return listObjects(this.store, request);
      case "create":
        return createObject(this.store, request, content);
      case "update":
        return updateObject(this.store, request, content);
      case "patch":
        return patchObject(this.store, request, content);
      case "delete":
        return deleteOne(this.store, request, content.value);
      default:
        return deleteMany(this.store, request, content.value);
    }
  }
}

async function bodyOf(request: IncomingMessage): Promise<{ value: unknown; type: string }> {
  const type = (request.headers["content-type"] ?? "").split(";")[0]!.trim();
  const body = await text(request);
  if (body.length > longestBody)
    throw new StatusError(413, "RequestEntityTooLarge", `Request entity too large: limit is ${longestBody}`);
  if (body === "") return { value: undefined, type };
  try {
    // The body of an apply is YAML, of which JSON is a part.
    return { value: type.includes("yaml") ? parse(body) : JSON.parse(body), type };
  } catch (error) {
    throw badRequest(`the object provided is unrecognized: ${(error as Error).message}`);
  }
}

function send(response: ServerResponse, { code, body }: Answer): void {
  response.writeHead(code, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** Answers what clients ask to learn which resources there are. */
function discovery(path: string): Answer | undefined {
  if (path === "/version") {
    return { code: 200, body: { major: "1", minor: "36", gitVersion: "v1.36.3-stand-in", platform: "linux/amd64" } };
  }
  if (path === "/api") return { code: 200, body: { kind: "APIVersions", versions: ["v1"] } };
  const groups = [...new Set(resources.filter(({ group }) => group !== "").map(groupVersion))];
  if (path === "/apis") {
    const described = groups.map((name) => {
      const version = { groupVersion: name, version: name.split("/")[1] };
      return { name: name.split("/")[0], versions: [version], preferredVersion: version };
    });
    return { code: 200, body: { kind: "APIGroupList", apiVersion: "v1", groups: described } };
  }
  const wanted = path.replace(/^\/apis?\//, "");
  const served = resources.filter((resource) => groupVersion(resource) === wanted);
  if (served.length === 0) return undefined;
  return {
    code: 200,
    body: { kind: "APIResourceList", apiVersion: "v1", groupVersion: wanted, resources: served.map(describe) },
  };
}

function describe({ plural, kind, namespaced }: Resource): object {
  const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
  return { name: plural, singularName: kind.toLowerCase(), namespaced, kind, verbs };
}
