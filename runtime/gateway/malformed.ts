/**
 * Malformed requests are the client's mistake: `invalid_argument`. Connect itself answers `internal` to bytes that are no
 * protobuf message, and reads bytes of JSON that are no UTF-8 as U+FFFD. It parses before interceptors and implementations are
 * asked, and only its adapters know how requests may be compressed and how large they may be; so it parses first, and what it says
 * is put right afterwards. Requests that are well-formed pay for nothing but a look at their text, if they are JSON.
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
const received = createContextKey<ReceivedRequest | undefined>(undefined);

/** A handler that answers `invalid_argument` to requests that are no messages, and otherwise what `handler` answers. */
export function refusingMalformed(handler: UniversalHandler): UniversalHandler {
  const refuse = refusalOf(handler);
  const handle = async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    const contextValues = request.contextValues ?? createContextValues();
    const own = new ReceivedRequest(request);
    contextValues.set(received, own);
    const response = await handler({ ...request, body: own.body, contextValues });
    if (own.parsed || response.body === undefined) return response;
    // What is no message is answered in one piece, before anybody was asked.
    const chunks = response.body[Symbol.asyncIterator]();
    const first = await chunks.next();
    const why = parseError(first, response);
    if (why === undefined) return { ...response, body: goOn(first, chunks) };
    await chunks.return?.();
    const { parent, name } = handler.method;
    const text = `cannot decode a request of ${parent.typeName}/${name}: ${why}`;
    // Nothing is decompressed for it.
    const header = new Headers(request.header);
    for (const name of encodingHeaders) header.delete(name);
    return refuse({ ...request, header, body: failing(new ConnectError(text, Code.InvalidArgument)) });
  };
  return Object.assign(handle, handler);
}

/**
 * To be called first by an implementation: its request has been parsed.
 * @throws ConnectError if the request is JSON that is no UTF-8
 */
export async function checkText(values: ContextValues): Promise<void> {
  await values.get(received)?.check();
}

class ReceivedRequest {
  readonly body: UniversalServerRequest["body"];
  /** Whether Connect has made a message of it. */
  parsed = false;
  readonly #header: Headers;
  readonly #isPlain: boolean;
  /** The text of a JSON request; a binary request is not kept. */
  #chunks: Uint8Array[] = [];

  constructor({ header, body }: UniversalServerRequest) {
    const type = header.get("content-type") ?? "";
    this.#header = header;
    this.#isPlain = /^application\/json\b/i.test(type);
    const isJson = /^application\/(?:(?:connect|grpc|grpc-web)\+)?json\b/i.test(type);
    this.body = isJson && isStream(body) ? this.#keep(body) : body;
  }

  async check(): Promise<void> {
    this.parsed = true;
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [];
    const message = this.#isPlain ? bytes : bytes.subarray(envelopeHead);
    const isCompressed = this.#isPlain || ((bytes[0] ?? 0) & compressedFlag) !== 0;
    const text = isCompressed ? await this.#decompress(message) : message;
    if (text !== undefined && !isUtf8(text)) {
      throw new ConnectError("cannot decode a request in JSON: expected UTF-8", Code.InvalidArgument);
    }
  }

  /** Undefined: by a method that only the adapter knows. Connect has decompressed it before, so it is not too large. */
  #decompress(message: Uint8Array): Promise<Uint8Array> | Uint8Array | undefined {
    const name = encodingHeaders.map((header) => this.#header.get(header)).find((encoding) => encoding !== null);
    if (name === undefined || name === "identity") return message;
    return decompressors[name]?.(message);
  }

  async *#keep(body: Body): Body {
    for await (const chunk of body) {
      this.#chunks.push(chunk);
      yield chunk;
    }
  }
}

/** Content types of plain HTTP, of streams in Connect, of gRPC and of gRPC-web. */
const encodingHeaders = ["content-encoding", "connect-content-encoding", "grpc-encoding"];

/** Before each message of the protocols that are not plain HTTP: flags, and four bytes of length. */
const envelopeHead = 5;
const compressedFlag = 1;

const decompressors: Readonly<Record<string, (bytes: Uint8Array) => Promise<Uint8Array>>> = {
  gzip: promisify(gunzip),
  br: promisify(brotliDecompress),
};

function isStream(body: UniversalServerRequest["body"]): body is Body {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}

/** Encodes errors as each protocol has them. */
function refusalOf({ method }: UniversalHandler): UniversalHandler {
  const router = createConnectRouter();
  const never = (): never => {
    throw new ConnectError("a request that cannot be read has been read", Code.Internal);
  };
  if (method.methodKind === "server_streaming") router.rpc(method as DescMethodServerStreaming, never);
  else router.rpc(method as DescMethodUnary, never);
  return router.handlers[0]!;
}

async function* failing(error: ConnectError): Body {
  yield* [];
  throw error;
}

async function* goOn(first: IteratorResult<Uint8Array>, rest: AsyncIterator<Uint8Array>): Body {
  try {
    for (let next = first; next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/** Connect's text about bytes that are no message, in the first piece of an answer or, for gRPC, in its trailers. */
function parseError(first: IteratorResult<Uint8Array>, { trailer }: UniversalServerResponse): string | undefined {
  const text = first.done === true ? trailer?.get("grpc-message") : Buffer.from(first.value).toString("latin1");
  const [, why] = /parse(?: |%20)binary(?::|%3A)(?: |%20)([^"\\\r\n]*)/.exec(text ?? "") ?? [];
  return why === undefined ? undefined : decodeURIComponent(why.replace(/%(?![\dA-F]{2})/g, "%25"));
}
