/**
 * Clients of the gateway, for generated code: one method for each endpoint. Arguments and results go through the codecs
 * of the schema, and travel by any transport of Connect.
 */

import type { DescService } from "@bufbuild/protobuf";
import { type DescMethod, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { arityError } from "../../shared/text/arity-error.js";
import { type ActorDescriptor, type Codec, codec, type EndpointDescriptor } from "../codegen/v1/index.js";
import { serviceOf } from "./actor-service.js";
import { type ClientOptions, connectOptions } from "./client-options.js";

/** A method that answers once. It rejects with a `ConnectError`, or with a `CodecError` if an argument is invalid. */
export interface UnaryMethod<A extends readonly unknown[], R> {
  (...args: A): Promise<R>;
  /**
   * Returns the method with options.
   *
   * @param options the time limit, the signal and the headers of its calls
   */
  with(options: ClientOptions): (...args: A) => Promise<R>;
}

/**
 * A method that yields values. The request is sent when the iteration begins, and again by each iteration. Leaving the
 * loop ends the stream.
 */
export interface ServerStreamMethod<A extends readonly unknown[], R> {
  (...args: A): AsyncIterable<R>;
  /**
   * Returns the method with options.
   *
   * @param options the time limit, the signal and the headers of its streams
   */
  with(options: ClientOptions): (...args: A) => AsyncIterable<R>;
}

/**
 * Creates a client. Generated code calls this function with the type of the client.
 *
 * @param actor the interface of the actor
 * @param transport a transport of `@connectrpc/connect-web` or `@connectrpc/connect-node`
 */
export function createActorClient<C extends object>(actor: ActorDescriptor, transport: Transport): C {
  const { service, endpoints, refused } = serviceOf(actor);
  const client = createClient(service, transport);
  const methods = service.methods.flatMap((method) => {
    const endpoint = endpoints.get(method.name);
    if (endpoint === undefined || refused.has(method.name)) return [];
    const called = new ClientMethod(actor, endpoint, method, client);
    const bound = (options: ClientOptions) => (endpoint.stream ? called.streams(options) : called.calls(options));
    return [[endpoint.name, Object.assign(bound({}), { with: bound })] as const];
  });
  return Object.fromEntries(methods) as unknown as C;
}

class ClientMethod {
  readonly #label: string;
  readonly #endpoint: EndpointDescriptor;
  readonly #method: DescMethod;
  readonly #client: Client<DescService>;
  readonly #result: Codec<{ readonly result?: unknown }> | undefined;

  constructor(actor: ActorDescriptor, endpoint: EndpointDescriptor, method: DescMethod, client: Client<DescService>) {
    this.#label = `${actor.name}.${endpoint.name}`;
    this.#endpoint = endpoint;
    this.#method = method;
    this.#client = client;
    const { result } = endpoint;
    this.#result = result && codec.object<{ readonly result?: unknown }>(method.output.name, { result });
  }

  calls(options: ClientOptions): (...args: unknown[]) => Promise<unknown> {
    const checked = connectOptions(options);
    const send = this.#send as (request: Message, options: object) => Promise<Message>;
    return async (...args) => this.#decode(await send(this.#request(args), checked));
  }

  streams(options: ClientOptions): (...args: unknown[]) => AsyncIterable<unknown> {
    const checked = connectOptions(options);
    const send = this.#send as (request: Message, options: object) => AsyncIterable<Message>;
    const items = async function* (this: ClientMethod, args: readonly unknown[]) {
      // Connect does not end the request of a stream whose reader has left.
      const leave = new AbortController();
      const signal = checked.signal === undefined ? leave.signal : AbortSignal.any([checked.signal, leave.signal]);
      try {
        for await (const item of send(this.#request(args), { ...checked, signal })) yield this.#decode(item);
      } finally {
        leave.abort();
      }
    };
    return (...args) => ({ [Symbol.asyncIterator]: () => items.call(this, args) });
  }

  get #send(): unknown {
    return (this.#client as Readonly<Record<string, unknown>>)[this.#method.localName];
  }

  #request(args: readonly unknown[]): Message {
    const { minArgs, maxArgs, args: tuple } = this.#endpoint;
    if (args.length < minArgs || args.length > maxArgs) throw arityError(this.#label, minArgs, maxArgs, args.length);
    return fromBinary(this.#method.input, tuple.toProtobuf(args));
  }

  #decode(answer: Message): unknown {
    return this.#result?.fromProtobuf(toBinary(this.#method.output, answer)).result;
  }
}
