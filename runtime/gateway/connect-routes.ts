/**
 * Serves a mesh of actors to clients that use Connect, gRPC or gRPC-web. Handles do not pass in either direction:
 * endpoints that could take or return one are not served, and fields that the schema of this process does not know are
 * dropped, because a process with a newer schema could know them as handles.
 */
import process from "node:process";
import {
  type DescMessage,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, type HandlerContext } from "@connectrpc/connect";
import {
  type ActorMesh,
  type CallOptions,
  type Codec,
  codec,
  type Endpoint,
  type EndpointDescriptor,
  isTraceparent,
  livingPoint,
  type StreamEndpoint,
  withoutHandles,
} from "../index.js";
import { connectError, type ErrorCodes } from "./connect-error.js";
import { connectService } from "./connect-service.js";
import { checkRequestText, refuseMalformed } from "./malformed-requests.js";

/** The options of {@link connectRoutes}. */
export interface ConnectRoutesOptions {
  /** Codes of Connect by the class names of errors that handlers throw. Default: all of them are `unknown`. */
  readonly codes?: ErrorCodes;
}

/**
 * Returns the routes of a mesh, for an adapter of Connect. A request goes to one living actor of the mesh: the less
 * loaded of two that are drawn at random. A stream goes to one living actor that is drawn at random. The deadline and
 * the `traceparent` of the client apply to the call, and a client that disconnects aborts `context().signal` of the
 * handler. Endpoints whose arguments or results can contain handles answer `unimplemented`; a warning of the process
 * names them.
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { connectNodeAdapter } from "@connectrpc/connect-node";
 * import type { ActorMesh } from "viceroy";
 * import { connectRoutes } from "viceroy/gateway";
 *
 * declare const counters: ActorMesh;
 * createServer(connectNodeAdapter({ routes: connectRoutes(counters) })).listen(8080);
 * ```
 *
 * @param mesh the mesh that serves the requests
 * @param options codes of errors
 */
export function connectRoutes(
  mesh: ActorMesh,
  options: ConnectRoutesOptions = {},
): (router: ConnectRouter) => ConnectRouter {
  const { service, endpoints, refused } = connectService(mesh);
  const { codes = {} } = options;
  return (router) => {
    if (refused.size > 0) process.emitWarning([...refused.values()].join("\n"), "ViceroyGateway");
    for (const method of service.methods) {
      const endpoint = endpoints.get(method.name);
      if (endpoint === undefined) continue;
      const why = refused.get(method.name);
      const served = why === undefined ? new ServedEndpoint(mesh, endpoint, method, codes) : new RefusedEndpoint(why);
      if (endpoint.stream) router.rpc(method as DescMethodServerStreaming, (...call) => served.stream(...call));
      else router.rpc(method as DescMethodUnary, (...call) => served.call(...call));
      router.handlers.push(refuseMalformed(router.handlers.pop()!));
    }
    return router;
  };
}

/** An endpoint whose requests or answers can contain handles. Its requests are not decoded. */
class RefusedEndpoint {
  readonly #why: string;

  constructor(why: string) {
    this.#why = why;
  }

  call(): never {
    throw new ConnectError(this.#why, Code.Unimplemented);
  }

  // biome-ignore lint/correctness/useYield: it refuses before the first item
  async *stream(): AsyncGenerator<Message> {
    this.call();
  }
}

class ServedEndpoint {
  readonly #mesh: ActorMesh;
  readonly #endpoint: EndpointDescriptor;
  readonly #input: DescMessage;
  readonly #answers: AnswerMessages;
  readonly #codes: ErrorCodes;

  constructor(mesh: ActorMesh, endpoint: EndpointDescriptor, { input, output }: DescMethod, codes: ErrorCodes) {
    this.#mesh = mesh;
    this.#endpoint = endpoint;
    this.#input = input;
    this.#answers = new AnswerMessages(output, endpoint.result);
    this.#codes = codes;
  }

  async call(request: Message, context: HandlerContext): Promise<Message> {
    try {
      await checkRequestText(context.values);
      const args = this.#arguments(request);
      const endpoint = this.#endpointOf<Endpoint>(this.#mesh).with(callOptions(context));
      return this.#answers.encode(await endpoint.choose(...args));
    } catch (error) {
      throw connectError(error, this.#codes);
    }
  }

  async *stream(request: Message, context: HandlerContext): AsyncGenerator<Message> {
    try {
      await checkRequestText(context.values);
      const args = this.#arguments(request);
      const one = this.#mesh.slice(livingPoint(this.#mesh)) as unknown as ActorMesh;
      const endpoint = this.#endpointOf<StreamEndpoint>(one).with(callOptions(context));
      for await (const [, item] of endpoint.stream(...args)) yield this.#answers.encode(item);
    } catch (error) {
      throw connectError(error, this.#codes);
    }
  }

  #endpointOf<E>(mesh: ActorMesh): E {
    return (mesh as unknown as Readonly<Record<string, E>>)[this.#endpoint.name] as E;
  }

  #arguments(request: Message): unknown[] {
    const bytes = toBinary(this.#input, request, { writeUnknownFields: false });
    return [...withoutHandles(() => this.#endpoint.args.fromProtobuf(bytes))];
  }
}

/** Converts results to messages with the one field `result`. */
class AnswerMessages {
  readonly #output: DescMessage;
  readonly #codec: Codec<object> | undefined;

  constructor(output: DescMessage, result: Codec<unknown> | undefined) {
    this.#output = output;
    this.#codec = result && codec.object(output.name, { result });
  }

  encode(result: unknown): Message {
    const bytes = withoutHandles(() => this.#codec?.toProtobuf({ result })) ?? new Uint8Array();
    return fromBinary(this.#output, bytes, { readUnknownFields: false });
  }
}

function callOptions({ signal, timeoutMs, requestHeader }: HandlerContext): CallOptions {
  const timeout = timeoutMs();
  const traceparent = requestHeader.get("traceparent");
  return {
    signal,
    // A deadline that has passed aborts the signal instead.
    ...(timeout !== undefined && timeout > 0 && { timeout }),
    // A malformed traceparent is ignored.
    ...(traceparent !== null && isTraceparent(traceparent) && { traceparent }),
  };
}
