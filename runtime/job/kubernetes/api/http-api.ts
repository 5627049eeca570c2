/**
 * The API of Kubernetes over HTTPS. One small client serves all requests, so that lists, watches and logs fail in the same way, and the objects
 * of large lists are plain JSON. Credentials come from cluster-access.ts.
 */
import type { IncomingMessage } from "node:http";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { PausablePipe } from "../../../link/transport/pipe.js";
import { LineSplitter } from "../../line-splitter.js";
import type { ClusterAccess } from "./access.js";
import type {
  ApiObject,
  DeleteOptions,
  KubernetesApi,
  ObjectList,
  PodLogOptions,
  ResourceKind,
  Selection,
  WatchEvent,
} from "./kubernetes-api.js";
import { type Asked, KubernetesError, loginError, refusedError, silentError } from "./kubernetes-error.js";
import { pathOf, pluralOf } from "./resources.js";

/** The owner of the fields that jobs apply. */
const fieldManager = "viceroy";

/** Time in ms for an answer. Watches and logs have more. */
const answerMs = 30_000;

/** The time in s after which the API server ends a watch, and the time in ms after which its silence means that it is gone. */
const watchSeconds = 300;
const watchMs = (watchSeconds + 30) * 1000;

/** The interval in ms of the signs of life of a connection that is silent. */
const keepAliveMs = 10_000;

/** Number of objects of one page of a list. */
const pageSize = 500;

/** The user of a token, as the API server knows it. */
export interface ReviewedUser {
  readonly username: string;
  /** Further facts, such as the pod to which the token is bound. */
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

interface TokenReviewStatus {
  readonly authenticated?: boolean;
  readonly audiences?: readonly string[];
  readonly user?: Partial<ReviewedUser>;
}

interface Call extends Asked {
  readonly method: "GET" | "PATCH" | "POST" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: { readonly type: string; readonly value: unknown };
  readonly signal?: AbortSignal;
  /** The time in ms without any bytes after which the call fails. */
  readonly silence?: number;
  /** Whether the program may end before the call. */
  readonly isBackground?: boolean;
}

export class HttpApi implements KubernetesApi {
  readonly namespace: string;
  readonly #access: ClusterAccess;
  /** The API server has allowed these requests, which are written as `permissionOf` writes them. */
  readonly #allowed = new Set<string>();

  constructor(access: ClusterAccess, namespace: string) {
    this.#access = access;
    this.namespace = namespace;
  }

  get server(): string {
    return this.#access.server;
  }

  get isInside(): boolean {
    return this.#access.isInside;
  }

  async get(kind: ResourceKind, name: string): Promise<ApiObject | undefined> {
    return orMissing(this.#json<ApiObject>({ ...this.#call("get", kind, name), method: "GET" }));
  }

  async list(kind: ResourceKind, selection: Selection = {}): Promise<ObjectList> {
    const items: ApiObject[] = [];
    for (let next: string | undefined; ; ) {
      const page: ListBody = await this.#json({
        ...this.#call("list", kind),
        method: "GET",
        query: { ...selection, limit: pageSize, continue: next },
      });
      items.push(...page.items);
      next = page.metadata.continue;
      if (!next) return { items, resourceVersion: page.metadata.resourceVersion };
    }
  }

  async *watch(
    kind: ResourceKind,
    selection: Selection,
    resourceVersion: string,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent, void> {
    const call = this.#call("watch", kind);
    const query = {
      ...selection,
      watch: "true",
      allowWatchBookmarks: "true",
      resourceVersion,
      timeoutSeconds: watchSeconds,
    };
    const lines = this.#lines({ ...call, method: "GET", query, signal, silence: watchMs, isBackground: true });
    for await (const line of lines) {
      const event = parseAnswer<WatchEvent | { readonly type: "ERROR"; readonly object: { code?: number } }>(
        line,
        call,
        this.#access,
      );
      if (event.type !== "ERROR") yield event;
      else {
        const refusal = { status: event.object.code ?? 500, text: JSON.stringify(event.object) };
        throw refusedError(refusal, call, this.#access);
      }
    }
  }

  apply(object: object, { dryRun = false }: { readonly dryRun?: boolean } = {}): Promise<ApiObject> {
    const { kind, metadata } = object as ApiObject;
    return this.#json({
      ...this.#call("patch", kind as ResourceKind, metadata.name),
      method: "PATCH",
      query: { fieldManager, force: "true", dryRun: dryRun ? "All" : undefined },
      // JSON is YAML, too.
      body: { type: "application/apply-patch+yaml", value: object },
    });
  }

  patch(kind: ResourceKind, name: string, change: object): Promise<ApiObject> {
    return this.#json({
      ...this.#call("patch", kind, name),
      method: "PATCH",
      query: { fieldManager },
      body: { type: "application/merge-patch+json", value: change },
    });
  }

  async delete(kind: ResourceKind, name: string, options: DeleteOptions = {}): Promise<boolean> {
    const { uid, gracePeriodSeconds } = options;
    const value = {
      propagationPolicy: "Background",
      ...(uid === undefined ? {} : { preconditions: { uid } }),
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    };
    const body = { type: "application/json", value };
    try {
      const deleted = this.#json({ ...this.#call("delete", kind, name), method: "DELETE", body });
      return (await orMissing(deleted)) !== undefined;
    } catch (error) {
      // Another object has its name now.
      if (error instanceof KubernetesError && error.status === 409 && uid !== undefined) return false;
      throw error;
    }
  }

  async *logs(pod: string, options: PodLogOptions): AsyncGenerator<string, void> {
    const { container, follow, signal, timestamps = false, since } = options;
    const path = `${pathOf(this.namespace, "Pod", pod)}/log`;
    const asked = { verb: "get", resource: "pods/log", name: pod, namespace: this.namespace };
    const query = {
      container,
      follow: follow ? "true" : undefined,
      timestamps: timestamps ? "true" : undefined,
      sinceTime: since,
    };
    yield* this.#lines({ ...asked, path, method: "GET", query, signal, ...(follow ? { silence: 0 } : {}) });
  }

  async openPort(pod: string, port: number, signal: AbortSignal): Promise<PausablePipe> {
    const { forwardPort } = await import("./forward-port.js");
    return forwardPort(this.#access, { namespace: this.namespace, pod, port }, signal);
  }

  /** Returns the user and the groups that the API server sees in the credentials of this program. */
  async whoAmI(): Promise<{ readonly username: string; readonly groups: readonly string[] }> {
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const asked = { verb: "create", resource: "selfsubjectreviews", namespace: this.namespace };
    const value = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const { status } = await this.#json<{ status: { userInfo: { username: string; groups?: readonly string[] } } }>({
      ...asked,
      path,
      method: "POST",
      body: { type: "application/json", value },
    });
    return { username: status.userInfo.username, groups: status.userInfo.groups ?? [] };
  }

  /**
   * Asks the API server whose token it is.
   * @param audience for whom the token must have been issued
   * @returns undefined if the token is not valid, or is for somebody else
   */
  async reviewToken(token: string, audience: string): Promise<ReviewedUser | undefined> {
    const path = "/apis/authentication.k8s.io/v1/tokenreviews";
    const asked = { verb: "create", resource: "tokenreviews", namespace: this.namespace };
    const spec = { token, audiences: [audience] };
    const value = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec };
    const { status } = await this.#json<{ readonly status: TokenReviewStatus }>({
      ...asked,
      path,
      method: "POST",
      body: { type: "application/json", value },
    });
    // An API server that knows no audiences answers without them.
    if (status.authenticated !== true || status.audiences?.includes(audience) !== true) return undefined;
    return { username: status.user?.username ?? "", extra: status.user?.extra ?? {} };
  }

  #call(verb: string, kind: ResourceKind, name?: string): Asked & { readonly path: string } {
    const { namespace } = this;
    return { verb, resource: pluralOf(kind), name, namespace, path: pathOf(namespace, kind, name) };
  }

  async #json<T>(call: Call): Promise<T> {
    return parseAnswer<T>(await this.#text(call), call, this.#access);
  }

  async #text(call: Call): Promise<string> {
    const answer = await this.#answer(call);
    try {
      return await textOf(answer);
    } catch (cause) {
      throw call.signal?.aborted ? call.signal.reason : silentError(cause, call, this.#access);
    }
  }

  /** Reads the lines of an answer as they arrive. Ends with the answer, or when the signal of the call is aborted. */
  async *#lines(call: Call): AsyncGenerator<string, void> {
    let answer: IncomingMessage;
    try {
      answer = await this.#answer(call);
    } catch (error) {
      if (call.signal?.aborted) return;
      throw error;
    }
    const read: string[] = [];
    const splitter = new LineSplitter((line) => read.push(line));
    try {
      for await (const bytes of answer as AsyncIterable<Buffer>) {
        splitter.add(bytes);
        yield* read.splice(0);
      }
    } catch (cause) {
      if (call.signal?.aborted) return;
      throw silentError(cause, call, this.#access);
    }
    splitter.end();
    yield* read;
  }

  /** Sends a request, a second time with credentials that are read again if the first ones are not accepted. */
  async #answer(call: Call): Promise<IncomingMessage> {
    const first = await this.#send(call);
    if (first.statusCode !== 401) return this.#accepted(first, call);
    first.resume();
    await this.#access.reload();
    return this.#accepted(await this.#send(call), call);
  }

  async #accepted(answer: IncomingMessage, call: Call): Promise<IncomingMessage> {
    const status = answer.statusCode ?? 0;
    const permission = permissionOf(call);
    if (status >= 200 && status < 300) {
      this.#allowed.add(permission);
      return answer;
    }
    const seconds = Number(answer.headers["retry-after"]);
    const text = await textOf(answer).catch(() => "");
    const retryAfter = seconds > 0 ? seconds * 1000 : undefined;
    throw refusedError({ status, text, retryAfter, wasAllowed: this.#allowed.has(permission) }, call, this.#access);
  }

  async #send({
    method,
    path,
    query = {},
    body,
    signal,
    silence = answerMs,
    isBackground = false,
    ...asked
  }: Call): Promise<IncomingMessage> {
    const url = new URL(this.server + path);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const content = body === undefined ? undefined : JSON.stringify(body.value);
    const options = await this.#access.requestOptions().catch((cause: unknown) => {
      throw loginError(cause, this.#access);
    });
    const headers = {
      ...(options.headers as Record<string, string> | undefined),
      accept: "application/json",
      ...(content === undefined
        ? {}
        : { "content-type": body!.type, "content-length": String(Buffer.byteLength(content)) }),
    };
    const send = url.protocol === "http:" ? httpRequest : httpsRequest;
    return new Promise((resolve, reject) => {
      const sent = send(url, { ...options, method, headers, ...(signal === undefined ? {} : { signal }) }, resolve);
      sent.setTimeout(silence, () => sent.destroy(new Error(`nothing has come for ${silence} ms`)));
      sent.on("socket", (socket) => {
        socket.setKeepAlive(true, keepAliveMs);
        if (isBackground) socket.unref();
      });
      sent.on("error", (cause) => reject(signal?.aborted ? signal.reason : silentError(cause, asked, this.#access)));
      sent.end(content);
    });
  }
}

/** Returns what of a Role a request needs. Roles allow the pods of a namespace together, and other objects perhaps by their names. */
function permissionOf({ verb, resource, name = "" }: Asked): string {
  return resource.startsWith("pods") ? `${verb} ${resource}` : `${verb} ${resource} ${name}`;
}

/** @throws KubernetesError if a text is no JSON, as when something between the program and the API server has answered */
function parseAnswer<T>(text: string, call: Asked, access: ClusterAccess): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw silentError(new Error("its answer is not JSON", { cause }), call, access);
  }
}

interface ListBody {
  readonly items: readonly ApiObject[];
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of answer as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}

/** Resolves with undefined if the answer is that there is no such object. */
async function orMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof KubernetesError && error.status === 404) return undefined;
    throw error;
  }
}
