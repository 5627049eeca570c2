/** Asks the controller. It is proved by the authority that it publishes in the namespace of this pod, and not by its address. */
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { errorMessage } from "../../../../shared/text/error-message.js";
import { formatIdentity, identityInNames } from "../../../link/transport/tls/identity.js";
import { controllerAuthority, controllerFolder, controllerToken, controllerVariable } from "../manifest/layout.js";
import { controllerName, longestAnswer, longestPollMs, type Refusal } from "./protocol.js";

/** Times in ms without a byte after which a request fails. Other requests than GET can wait for the pods of hosts to end. */
const silences = { get: longestPollMs + 20_000, others: 180_000 };

/** Thrown when the controller refuses a request, or cannot be asked. */
export class ControllerError extends Error {
  /** The status of HTTP; 0 if the controller has not answered. */
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }

  /** Whether the same request may succeed later: the controller starts, is replaced, or cannot be reached. */
  get isTransient(): boolean {
    return this.status === 0 || this.status >= 500 || this.status === 401 || this.status === 429;
  }
}

/** The address of the controller, and the proof that this program shows to it. */
export interface ControllerAccess {
  readonly url: string;
  /** The folder with the token of the pod and the authority of the controller. Kubernetes replaces both. */
  readonly folder: string;
}

/** Returns the access of this process; undefined if its pod has none. */
export function controllerAccess(): ControllerAccess | undefined {
  const url = process.env[controllerVariable];
  return url === undefined ? undefined : { url, folder: controllerFolder };
}

export class ControllerClient {
  readonly #access: ControllerAccess;
  readonly #silences: typeof silences;
  readonly #agent = new Agent({ keepAlive: true });

  /** @param silence the times in ms without a byte after which requests fail */
  constructor(access: ControllerAccess, silence = silences) {
    this.#access = access;
    this.#silences = silence;
  }

  /**
   * @returns the answer
   * @throws ControllerError if the controller refuses, or cannot be asked; the reason of `signal`
   */
  async ask<T>(method: "GET" | "POST" | "DELETE", path: string, signal: AbortSignal, body?: unknown): Promise<T> {
    const { url, folder } = this.#access;
    const read = (name: string, what: string) => {
      try {
        return readFileSync(join(folder, name), "utf8").trim();
      } catch (cause) {
        throw new ControllerError(0, `${what}: ${errorMessage(cause)}`, { cause });
      }
    };
    const token = read(controllerToken, "this pod has no token for the controller");
    const ca = read(
      controllerAuthority,
      `this namespace has no ConfigMap "${controllerName}", which the controller publishes in each namespace that its rules name`,
    );
    const content = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${token}`,
      ...(content === undefined
        ? {}
        : { "content-type": "application/json", "content-length": Buffer.byteLength(content) }),
    };
    const options = {
      method,
      headers,
      ca,
      agent: this.#agent,
      signal,
      minVersion: "TLSv1.3" as const,
      checkServerIdentity,
    };
    const answer = new Promise<readonly [number, string]>((resolve, reject) => {
      const sent = request(new URL(path, url), options, (response) => {
        textOf(response).then((text) => resolve([response.statusCode ?? 0, text]), reject);
      });
      // A program may end while it waits for the controller.
      sent.on("socket", (socket) => method === "GET" && socket.unref());
      const silence = method === "GET" ? this.#silences.get : this.#silences.others;
      sent.setTimeout(silence, () => sent.destroy(new Error("it does not answer")));
      sent.on("error", reject).end(content);
    });
    let status: number;
    let text: string;
    try {
      [status, text] = await answer;
    } catch (cause) {
      signal.throwIfAborted();
      throw new ControllerError(0, `the controller at ${url} cannot be reached: ${errorMessage(cause)}`, { cause });
    }
    if (status >= 200 && status < 300) {
      try {
        return JSON.parse(text) as T;
      } catch (cause) {
        // Something between this program and the controller has answered.
        throw new ControllerError(0, `the controller at ${url} answers with what is not JSON: ${errorMessage(cause)}`, {
          cause,
        });
      }
    }
    throw new ControllerError(status, reasonOf(text) ?? `the controller at ${url} answers with status ${status}`);
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Returns why a server is not the controller; undefined if it is. Its authority signs for nobody else. */
function checkServerIdentity(
  _host: string,
  { subjectaltname }: { readonly subjectaltname?: string },
): Error | undefined {
  const identity = identityInNames(subjectaltname);
  if (
    identity !== undefined &&
    formatIdentity(identity) === formatIdentity({ job: controllerName, role: "controller" })
  ) {
    return undefined;
  }
  return new Error(`it is not the controller, but ${subjectaltname ?? "has no name"}`);
}

async function textOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > longestAnswer) throw new Error(`its answer has more than ${longestAnswer} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function reasonOf(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as Partial<Refusal>;
    return typeof error === "string" ? error : undefined;
  } catch {
    return undefined;
  }
}
