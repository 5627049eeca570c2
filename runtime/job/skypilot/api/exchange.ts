/** Requests to the API server of SkyPilot over HTTP, with bounds on the size and the time of every answer. */
import { LineSplitter } from "../../line-splitter.js";
import type { ApiAccess } from "./access.js";
import { checkServerVersion, type ServerVersion, tooNewError, versionHeaders, versionOf } from "./api-version.js";
import { isObject, parseJson } from "./plain-json.js";
import { redirectError, refusedError, silentError, strangeError } from "./skypilot-error.js";

/** Maximum size of an answer in bytes. That about a cluster has a few kB. */
const maxAnswer = 16 << 20;

/** Time in ms without a byte after which an API server counts as gone. It sends a sign of life on a stream every 30 s. */
const silenceMs = 90_000;

/** One request. */
export interface Call {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** The purpose of the request, for errors: `launch cluster "crew"`. */
  readonly what: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly signal?: AbortSignal | undefined;
  /** Time in ms without a byte after which the call fails. Default: 90,000. */
  readonly silence?: number;
}

/** An answer that has been read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly version: ServerVersion | undefined;
}

export class Exchange {
  readonly access: ApiAccess;

  constructor(access: ApiAccess) {
    this.access = access;
  }

  /**
   * Sends a request and reads its answer.
   * @param accepted states of HTTP that are no refusals
   * @throws SkyPilotError if there is no answer, or it refuses the request
   */
  async ask(call: Call, accepted: readonly number[] = [200]): Promise<Answer> {
    const silence = new Silence(call);
    try {
      const response = await this.#send(call, silence);
      const text = await this.#text(response, call, silence);
      this.#check(response, text, call, accepted);
      return { status: response.status, headers: response.headers, text, version: versionOf(response.headers) };
    } finally {
      silence.end();
    }
  }

  /**
   * Yields the lines of an answer as they arrive.
   * @throws SkyPilotError if there is no answer, it refuses the request, or it breaks off
   */
  async *lines(call: Call): AsyncGenerator<string, void> {
    const silence = new Silence(call);
    try {
      const response = await this.#send(call, silence);
      if (response.status !== 200) this.#check(response, await this.#text(response, call, silence), call, [200]);
      const read: string[] = [];
      const splitter = new LineSplitter((line) => read.push(line));
      for await (const bytes of this.#parts(response, call, silence)) {
        splitter.add(bytes);
        yield* read.splice(0);
      }
      splitter.end();
      yield* read;
    } finally {
      // This also ends an answer whose reader has stopped.
      silence.end();
    }
  }

  async #send({ method, path, query = {}, body, what }: Call, silence: Silence): Promise<Response> {
    const { server, headers } = this.access;
    const url = new URL(server + path);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const type = body === undefined ? undefined : { "content-type": "application/json" };
    try {
      return await fetch(url, {
        method,
        headers: { ...versionHeaders, ...headers, ...type, accept: "application/json, text/plain" },
        // A request that is sent again to another address could lose its body, or show its credentials there.
        redirect: "manual",
        signal: silence.signal,
        ...content,
      });
    } catch (cause) {
      throw silence.reasonFor(cause, what, this.access);
    }
  }

  async #text(response: Response, call: Call, silence: Silence): Promise<string> {
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of this.#parts(response, call, silence)) {
      parts.push(part);
      size += part.length;
      if (size > maxAnswer) throw strangeError(`more than ${maxAnswer} bytes`, call.what, this.access);
    }
    return Buffer.concat(parts).toString("utf8");
  }

  async *#parts(response: Response, { what }: Call, silence: Silence): AsyncGenerator<Uint8Array, void> {
    if (response.body === null) return;
    try {
      for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
        silence.heard();
        yield part;
      }
    } catch (cause) {
      throw silence.reasonFor(cause, what, this.access);
    }
  }

  /** @throws SkyPilotError if an answer refuses the request, or the versions do not agree */
  #check(response: Response, text: string, { what }: Call, accepted: readonly number[]): void {
    const { status, headers } = response;
    const { server } = this.access;
    const version = versionOf(headers);
    if (version !== undefined) checkServerVersion(version, what, server);
    if (accepted.includes(status)) return;
    if (status >= 300 && status < 400) throw redirectError(headers.get("location") ?? "", what, this.access, status);
    const mismatch = status === 400 ? mismatchOf(text) : undefined;
    if (mismatch !== undefined) throw tooNewError(mismatch, what, server);
    const seconds = Number(headers.get("retry-after"));
    throw refusedError({ status, text, retryAfter: seconds > 0 ? seconds * 1000 : undefined }, what, this.access);
  }
}

/** Returns the words of an API server that does not answer clients of this version; undefined if it says something else. */
function mismatchOf(text: string): string | undefined {
  const body = parseJson(text);
  return isObject(body) && body["error"] === "version_mismatch" ? String(body["message"]) : undefined;
}

/** Ends a call whose answer is silent for too long. */
class Silence {
  readonly #limit: number;
  readonly #given: AbortSignal | undefined;
  readonly #ended = new AbortController();
  #timer: NodeJS.Timeout;
  readonly signal: AbortSignal;

  constructor({ silence = silenceMs, signal }: Call) {
    this.#limit = silence;
    this.#given = signal;
    this.signal = signal === undefined ? this.#ended.signal : AbortSignal.any([signal, this.#ended.signal]);
    this.#timer = this.#start();
  }

  /** Notes that bytes have come. */
  heard(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#start();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#ended.abort();
  }

  /** Returns why a call has failed: the reason of the caller's signal, or that of the network. */
  reasonFor(cause: unknown, what: string, access: ApiAccess): unknown {
    return this.#given?.aborted ? this.#given.reason : silentError(cause, what, access);
  }

  #start(): NodeJS.Timeout {
    const silent = () => this.#ended.abort(new Error(`nothing has come for ${this.#limit} ms`));
    return setTimeout(silent, this.#limit);
  }
}
