/**
 * The requests that the API server works on by itself. It answers with an id at once; what has become of the work is asked with that id, by the
 * program that has begun it or by another one.
 */
import {
  pauseAfter,
  type RetryableError,
  type RetryOptions,
  type RetryWorld,
  retrying,
  systemWorld,
} from "../../retry.js";
import type { Answer, Call, Exchange } from "./exchange.js";
import { type LogLine, readLogLine } from "./log-line.js";
import { isRequestId, type KnownRequest, parseOpenRequests, parseResult } from "./request-result.js";
import { failedError, SkyPilotError, strangeError } from "./skypilot-error.js";

/** Time in ms for which an API server that is away is asked again. SkyPilot's own client waits as long. */
export const awayLimit = 600_000;

/** Time in ms after which the result of a request is asked for again. `fetch` waits no longer than 300 s for an answer. */
const resultMs = 60_000;

/** Time in ms for the other answers, which are quick. */
const answerMs = 30_000;

/** The options with which a request is sent and followed. */
export interface FollowOptions {
  readonly signal?: AbortSignal | undefined;
  /** Told of what SkyPilot prints about the request. */
  readonly onLine?: ((line: LogLine) => void) | undefined;
  /** Told of each failure to reach the API server that is followed by another attempt. */
  readonly onAway?: RetryOptions["onAway"] | undefined;
}

export class Requests {
  readonly #exchange: Exchange;
  readonly #world: RetryWorld;

  constructor(exchange: Exchange, world: RetryWorld = systemWorld) {
    this.#exchange = exchange;
    this.#world = world;
  }

  /** The field of a request that says whose it is. SkyPilot keeps the clusters of users apart, and takes its own process for the user without it. */
  get user(): { readonly env_vars?: Readonly<Record<string, string>> } {
    const { userId } = this.#exchange.access;
    return userId === undefined ? {} : { env_vars: { SKYPILOT_USER_ID: userId, SKYPILOT_USER: userId } };
  }

  /**
   * Asks the API server to begin something.
   * @param what what it does, in errors: `launch cluster "crew"`
   * @param isRepeatable whether the request does no more when it is received twice
   * @returns the id of the request, as soon as the API server has it
   */
  async begin(
    path: string,
    body: object,
    what: string,
    { isRepeatable, ...options }: FollowOptions & { readonly isRepeatable: boolean },
  ): Promise<string> {
    const call = { method: "POST", path, body: { ...this.user, ...body }, what, silence: answerMs } as const;
    const { headers } = await this.#ask(call, options, isRepeatable ? undefined : wasNotReceived);
    const id = headers.get("x-skypilot-request-id");
    if (isRequestId(id)) return id;
    throw strangeError("without the id of the request", what, this.#exchange.access);
  }

  /**
   * Waits for the end of a request, also while the API server is away. The request goes on if `signal` is aborted.
   * @returns what the request has returned
   * @throws SkyPilotError with SkyPilot's own words if the request has failed, was cancelled or is not known any more
   */
  async follow(id: string, what: string, options: FollowOptions = {}): Promise<unknown> {
    if (options.onLine !== undefined) await this.#tell(id, what, options.onLine, options);
    const call = { method: "GET", path: "/api/get", query: { request_id: id }, what, silence: resultMs } as const;
    for (;;) {
      const answer = await this.#ask(call, options, undefined, [200, 404, 500]);
      if (answer.status === 404) throw this.#forgotten(id, what);
      const result = parseResult(answer.text);
      if (result === undefined) {
        throw strangeError("with something that is no request", what, this.#exchange.access, answer.status);
      }
      const { error, isCancelled, isOpen, value } = result;
      if (error !== undefined) throw failedError(error.kind, error.message, what, answer.status);
      if (isCancelled) throw failedError("RequestCancelled", "the request was cancelled", what, answer.status);
      if (!isOpen) return value;
      await this.#world.pause(pauseAfter(1, this.#world), options.signal);
    }
  }

  /** Begins something that does no more when it is asked for twice, and waits for its end. */
  async run(path: string, body: object, what: string, options: FollowOptions = {}): Promise<unknown> {
    return this.follow(await this.begin(path, body, what, { ...options, isRepeatable: true }), what, options);
  }

  /** Returns the requests about a cluster that have not ended, those of other programs included. */
  async openOf(cluster: string, options: FollowOptions = {}): Promise<KnownRequest[]> {
    const what = `list the requests about cluster ${JSON.stringify(cluster)}`;
    const query = { cluster_name: cluster };
    const { text } = await this.#ask({ method: "GET", path: "/api/status", query, what, silence: answerMs }, options);
    const requests = parseOpenRequests(text, cluster);
    if (requests === undefined) throw strangeError("with no list of requests", what, this.#exchange.access);
    return requests;
  }

  /** Cancels requests, and resolves when their work has stopped. Those that have ended, or are not known, are left as they are. */
  async cancel(ids: readonly string[], options: FollowOptions = {}): Promise<void> {
    if (ids.length === 0) return;
    const what = `cancel ${ids.length === 1 ? "request" : "requests"} ${ids.join(", ")}`;
    await this.run("/api/cancel", { request_ids: ids }, what, options);
  }

  /**
   * Yields what SkyPilot prints as the answer to a request, to its end. A stream that breaks off is read again, without what was told before.
   * @param call a request that does no more when it is received twice
   */
  async *stream(call: Call, options: FollowOptions = {}): AsyncGenerator<LogLine, void> {
    let status = "";
    for await (const line of this.#lines({ ...call, signal: options.signal }, options)) {
      const told = readLogLine(line);
      if (told === undefined) continue;
      // SkyPilot repeats its state, also while it waits.
      if (told.kind === "status" && told.text === status) continue;
      if (told.kind === "status") status = told.text;
      yield told;
    }
  }

  /** Tells of the lines of a request's log, to its end. */
  async #tell(id: string, what: string, onLine: (line: LogLine) => void, options: FollowOptions): Promise<void> {
    const query = { request_id: id, follow: "true", format: "console" };
    try {
      for await (const line of this.stream({ method: "GET", path: "/api/stream", query, what }, options)) onLine(line);
    } catch (error) {
      // The result says what has become of a request whose log is gone.
      if (!(error instanceof SkyPilotError) || error.status !== 404) throw error;
    }
  }

  /** Yields the lines of a stream. One that breaks off is read again, without the lines that were read before. */
  async *#lines(call: Call, { onAway }: FollowOptions): AsyncGenerator<string, void> {
    let read = 0;
    let failures = 0;
    let end = 0;
    for (;;) {
      let position = 0;
      try {
        for await (const line of this.#exchange.lines(call)) {
          failures = 0;
          position++;
          if (position <= read) continue;
          read = position;
          yield line;
        }
        return;
      } catch (error) {
        if (!(error instanceof SkyPilotError) || !error.isTransient) throw error;
        failures++;
        if (failures === 1) end = this.#world.now() + awayLimit;
        const wait = pauseAfter(failures, this.#world, error.retryAfter);
        if (this.#world.now() + wait > end) throw error;
        onAway?.(error);
        await this.#world.pause(wait, call.signal);
      }
    }
  }

  #ask(
    call: Call,
    { signal, onAway }: FollowOptions,
    isRepeatable?: (error: RetryableError) => boolean,
    accepted?: readonly number[],
  ): Promise<Answer> {
    return retrying(() => this.#exchange.ask({ ...call, signal }, accepted), {
      limit: awayLimit,
      signal,
      world: this.#world,
      ...(onAway && { onAway }),
      ...(isRepeatable && { isRepeatable }),
    });
  }

  #forgotten(id: string, what: string): SkyPilotError {
    const { server } = this.#exchange.access;
    const why = `the SkyPilot API server at ${server} does not know request ${id}: it was started again since the request began`;
    return new SkyPilotError(`cannot ${what}: ${why}, which has ended with it`, {
      status: 404,
      kind: "RequestForgotten",
    });
  }
}

/** Returns whether a server, or the proxy before it, has said that it has not taken a request. */
function wasNotReceived(error: RetryableError): boolean {
  return error instanceof SkyPilotError && (error.status === 503 || error.status === 429);
}
