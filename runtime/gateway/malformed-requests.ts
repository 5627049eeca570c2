/**
 * Makes malformed requests fail with `invalid_argument`, because they are mistakes of the client. Connect itself
 * answers `internal` to bytes that are not a protobuf message, and replaces invalid UTF-8 in JSON by U+FFFD. Connect
 * parses a request before it calls interceptors and implementations, and only its adapters know the allowed compression
 * and size. Therefore this code lets Connect parse first and corrects the answer afterwards. Well-formed requests cost
 * no more than a check of their text, if they are JSON.
 */
import { isUtf8 } from "node:buffer";
import { promisify } from "node:util";
import { brotliDecompress, gunzip } from "node:zlib";
import type { DescMethodServerStreaming, DescMethodUnary } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ContextValues,
  createConnectRouter,
  createContextKey,
  createContextValues,
} from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";

type Body = AsyncIterable<Uint8Array>;

/** The state of one request, which its handler shares with the implementation. */
const receivedRequestKey = createContextKey<ReceivedRequest | undefined>(undefined);

/** Returns a handler that answers `invalid_argument` to malformed requests, and calls `handler` for all others. */
export function refuseMalformed(handler: UniversalHandler): UniversalHandler {
  const refuse = refusalHandlerFor(handler);
  const handle = async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    const contextValues = request.contextValues ?? createContextValues();
    const own = new ReceivedRequest(request);
    contextValues.set(receivedRequestKey, own);
    const response = await handler({ ...request, body: own.body, contextValues });
    if (own.isParsed || response.body === undefined) return response;
    // Connect answers a malformed request with one chunk, before it calls an implementation.
    const chunks = response.body[Symbol.asyncIterator]();
    const first = await chunks.next();
    const why = parseErrorText(first, response);
    if (why === undefined) return { ...response, body: continueBody(first, chunks) };
    await chunks.return?.();
    const { parent, name } = handler.method;
    const text = `cannot decode a request of ${parent.typeName}/${name}: ${why}`;
    // The replacement body is not compressed.
    const header = new Headers(request.header);
    for (const name of encodingHeaders) header.delete(name);
    return refuse({ ...request, header, body: failingBody(new ConnectError(text, Code.InvalidArgument)) });
  };
  return Object.assign(handle, handler);
}

/**
 * Marks the request as parsed, and checks its text. An implementation must call this function first.
 * @throws ConnectError if the request is JSON that is not valid UTF-8
 */
export async function checkRequestText(values: ContextValues): Promise<void> {
  await values.get(receivedRequestKey)?.check();
}

class ReceivedRequest {
  readonly body: UniversalServerRequest["body"];
  /** Whether Connect has parsed the message. */
  isParsed = false;
  readonly #header: Headers;
  readonly #isPlain: boolean;
  /** The bytes of a JSON request. Those of a binary request are not kept. */
  #chunks: Uint8Array[] = [];

  constructor({ header, body }: UniversalServerRequest) {
    const type = header.get("content-type") ?? "";
    this.#header = header;
    this.#isPlain = /^application\/json\b/i.test(type);
    const isJson = /^application\/(?:(?:connect|grpc|grpc-web)\+)?json\b/i.test(type);
    this.body = isJson && isStream(body) ? this.#keepChunks(body) : body;
  }

  async check(): Promise<void> {
    this.isParsed = true;
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [];
    const message = this.#isPlain ? bytes : bytes.subarray(ENVELOPE_HEAD_BYTES);
    const isCompressed = this.#isPlain || ((bytes[0] ?? 0) & COMPRESSED_FLAG) !== 0;
    const text = isCompressed ? await this.#decompress(message) : message;
    if (text !== undefined && !isUtf8(text)) {
      throw new ConnectError("cannot decode a request in JSON: expected UTF-8", Code.InvalidArgument);
    }
  }

  /**
   * Returns the decompressed message, or undefined for a compression that only the adapter knows. Connect has
   * decompressed the message before, so it is not too large.
   */
  #decompress(message: Uint8Array): Promise<Uint8Array> | Uint8Array | undefined {
    const name = encodingHeaders.map((header) => this.#header.get(header)).find((encoding) => encoding !== null);
    if (name === undefined || name === "identity") return message;
    return decompressors[name]?.(message);
  }

  async *#keepChunks(body: Body): Body {
    for await (const chunk of body) {
      this.#chunks.push(chunk);
      yield chunk;
    }
  }
}

/** The headers that name the compression: for plain HTTP, streams of Connect, and gRPC or gRPC-web. */
const encodingHeaders = ["content-encoding", "connect-content-encoding", "grpc-encoding"];

/**
 * Number of bytes before each message in all protocols except plain HTTP: one byte of flags and four bytes of length.
 */
const ENVELOPE_HEAD_BYTES = 5;
const COMPRESSED_FLAG = 1;

const decompressors: Readonly<Record<string, (bytes: Uint8Array) => Promise<Uint8Array>>> = {
  gzip: promisify(gunzip),
  br: promisify(brotliDecompress),
};

function isStream(body: UniversalServerRequest["body"]): body is Body {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}

/** Returns a handler that encodes errors in the format of each protocol. */
function refusalHandlerFor({ method }: UniversalHandler): UniversalHandler {
  const router = createConnectRouter();
  const never = (): never => {
    throw new ConnectError("a request that cannot be read has been read", Code.Internal);
  };
  if (method.methodKind === "server_streaming") router.rpc(method as DescMethodServerStreaming, never);
  else router.rpc(method as DescMethodUnary, never);
  return router.handlers[0]!;
}

async function* failingBody(error: ConnectError): Body {
  yield* [];
  throw error;
}

async function* continueBody(first: IteratorResult<Uint8Array>, rest: AsyncIterator<Uint8Array>): Body {
  try {
    for (let next = first; next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/**
 * Returns Connect's text about a message that it could not parse. It is in the first chunk of an answer or, for gRPC,
 * in the trailers.
 */
function parseErrorText(first: IteratorResult<Uint8Array>, { trailer }: UniversalServerResponse): string | undefined {
  const text = first.done === true ? trailer?.get("grpc-message") : Buffer.from(first.value).toString("latin1");
  const [, why] = /parse(?: |%20)binary(?::|%3A)(?: |%20)([^"\\\r\n]*)/.exec(text ?? "") ?? [];
  return why === undefined ? undefined : decodeURIComponent(why.replace(/%(?![\dA-F]{2})/g, "%25"));
}
