/** Sends requests as bytes, with each protocol, and returns the code of the answer. */
import { connect } from "node:http2";

export type Protocol = "Connect" | "Connect, streaming" | "gRPC" | "gRPC-web";

export interface RawRequest {
  /** The port of the server: HTTP/2 for gRPC, HTTP/1.1 for the other protocols. */
  readonly ports: { readonly http1: number; readonly http2: number };
  /** `/acme.v1.ShopService/Order` */
  readonly path: string;
  readonly format: "proto" | "json";
  /** One message. */
  readonly payload: Uint8Array;
  /** The compression of the payload. */
  readonly encoding?: "gzip" | "br";
}

export interface RawAnswer {
  /** The name of the code in Connect, or its number in gRPC; 0 if the call has succeeded. */
  readonly code: string | number;
  readonly message: string;
}

export async function rawCall(protocol: Protocol, request: RawRequest): Promise<RawAnswer> {
  if (protocol === "gRPC") return grpcCall(request);
  const { ports, path, format, payload, encoding } = request;
  const types = { Connect: "", "Connect, streaming": "connect+", "gRPC-web": "grpc-web+" };
  const names = { Connect: "", "Connect, streaming": "connect-", "gRPC-web": "grpc-" };
  const encodingHeader = protocol === "gRPC-web" ? "grpc-encoding" : `${names[protocol]}content-encoding`;
  const response = await fetch(`http://127.0.0.1:${ports.http1}${path}`, {
    method: "POST",
    headers: {
      "content-type": `application/${types[protocol]}${format}`,
      ...(encoding && { [encodingHeader]: encoding }),
    },
    body: protocol === "Connect" ? payload : inEnvelope(payload, encoding !== undefined),
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (protocol === "Connect") return response.ok ? done : fromJson(JSON.parse(text(bytes)));
  const last = lastEnvelope(bytes);
  if (protocol === "Connect, streaming") return fromJson(JSON.parse(last).error);
  return fromTrailers(new Map(last.split("\r\n").map((line) => line.split(": ", 2) as [string, string])));
}

async function grpcCall({ ports, path, format, payload, encoding }: RawRequest): Promise<RawAnswer> {
  const session = connect(`http://127.0.0.1:${ports.http2}`);
  try {
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": `application/grpc+${format}`,
      te: "trailers",
      ...(encoding && { "grpc-encoding": encoding }),
    });
    stream.end(inEnvelope(payload, encoding !== undefined));
    const trailers = new Promise<Map<string, string>>((resolve, reject) => {
      stream.on("error", reject);
      stream.on("trailers", (headers) => resolve(new Map(Object.entries(headers) as [string, string][])));
    });
    stream.resume();
    return fromTrailers(await trailers);
  } finally {
    session.close();
  }
}

const done: RawAnswer = { code: 0, message: "" };

function inEnvelope(payload: Uint8Array, isCompressed: boolean): Uint8Array<ArrayBuffer> {
  const envelope = new Uint8Array(5 + payload.length);
  envelope[0] = isCompressed ? 1 : 0;
  new DataView(envelope.buffer).setUint32(1, payload.length);
  envelope.set(payload, 5);
  return envelope;
}

function lastEnvelope(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer);
  let at = 0;
  while (at + 5 + view.getUint32(at + 1) < bytes.length) at += 5 + view.getUint32(at + 1);
  return text(bytes.subarray(at + 5));
}

function fromJson(error: RawAnswer | undefined): RawAnswer {
  return error === undefined ? done : { code: error.code, message: error.message };
}

function fromTrailers(trailers: ReadonlyMap<string, string>): RawAnswer {
  return {
    code: Number(trailers.get("grpc-status")),
    message: decodeURIComponent(trailers.get("grpc-message") ?? ""),
  };
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}
