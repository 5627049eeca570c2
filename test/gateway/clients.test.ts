/**
 * Tests of the gateway with clients of other projects: connect-node with all three protocols, grpc-js, and `buf curl`.
 * A separate process serves a mesh of two processes over HTTP.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  create,
  type DescMethod,
  type DescService,
  fromBinary,
  type Message,
  type Registry,
  toBinary,
} from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import grpc from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compileProject } from "../proc/crew.js";
import { until } from "../proc/until.js";

const project = fileURLToPath(new URL("./project/", import.meta.url));
const bin = fileURLToPath(new URL("../../node_modules/.bin/", import.meta.url));

/** Requests and answers as plain messages. */
type Data = Record<string, unknown>;
interface Client {
  call(method: string, request?: Data, options?: { timeoutMs?: number; signal?: AbortSignal }): Promise<Data>;
  stream(method: string, request?: Data, options?: { signal?: AbortSignal }): AsyncIterable<Data>;
}

let server: ChildProcess;
let folder: string;
let ports: { readonly http2: number; readonly http1: number };
let service: DescService;
let registry: Registry & { readonly files?: Iterable<{ readonly proto: FileDescriptorProto }> };

beforeAll(async () => {
  await compileProject(project);
  server = spawn(process.execPath, ["--import", "tsx", path.join(project, "programs/serve.ts")], {
    cwd: project,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = await once(createInterface(server.stdout!), "line");
  const [http2, http1] = JSON.parse(line as string) as [number, number];
  ports = { http2, http1 };
  const { connectService } = await import("viceroy/gateway");
  const { ShopActor } = await import("./project/generated/shop.js");
  ({ service, registry } = connectService(ShopActor));
  folder = mkdtempSync(path.join(tmpdir(), "viceroy-gateway-"));
});

afterAll(async () => {
  server.stdin?.end();
  if (server.exitCode === null) await once(server, "exit");
  rmSync(folder, { recursive: true });
});

function connectClient(transport: Transport): Client {
  const client = createClient(service, transport) as unknown as Record<
    string,
    (request: Data, options?: object) => never
  >;
  const local = (method: string): string => `${method[0]!.toLowerCase()}${method.slice(1)}`;
  return {
    call: (method, request = {}, options) => client[local(method)]!(request, options),
    stream: (method, request = {}, options) => client[local(method)]!(request, options),
  };
}

const over = (port: number, httpVersion: "1.1" | "2") => ({ baseUrl: `http://127.0.0.1:${port}`, httpVersion });
const clients: Readonly<Record<string, () => Client>> = {
  "Connect, JSON, HTTP/1.1": () => connectClient(createConnectTransport(over(ports.http1, "1.1"))),
  "Connect, binary, HTTP/2": () =>
    connectClient(createConnectTransport({ ...over(ports.http2, "2"), useBinaryFormat: true })),
  "gRPC, HTTP/2": () => connectClient(createGrpcTransport({ baseUrl: `http://127.0.0.1:${ports.http2}` })),
  "gRPC-web, HTTP/1.1": () => connectClient(createGrpcWebTransport(over(ports.http1, "1.1"))),
};

const items = [
  { name: "tea", cents: 350n, size: 1 },
  { name: "größe ☕", cents: 2n ** 63n },
];

describe.each(Object.entries(clients))("%s", (name, connect) => {
  test("a unary method takes and returns complete messages", async () => {
    const { result } = await connect().call("Order", { items, note: "hot" });
    expect(result).toMatchObject({
      items,
      total: 350n + 2n ** 63n,
      at: { seconds: 1_700_000_000n, nanos: 123_000_000 },
    });
    expect(result).toMatchObject({ notes: { note: "hot" } });
  });

  test("enum values of a newer client reach the actors and are returned; unknown fields, which could contain handles, are dropped", async () => {
    const input = service.methods.find((method) => method.name === "Order")!.input;
    const request = create(input, { items: [{ name: "tea", cents: 1n, size: 7 }] } as never) as Message & {
      readonly items: { $unknown?: unknown[] }[];
    };
    // JSON has no unknown fields.
    if (!name.includes("JSON")) request.items[0]!.$unknown = [{ no: 100, wireType: 2, data: Uint8Array.of(2, 7, 9) }];
    const { result } = await connect().call("Order", request as never as Data);
    expect(result).toMatchObject({ items: [{ name: "tea", size: 7 }], total: 1n });
    expect((result as { readonly items: readonly object[] }).items[0]).not.toHaveProperty("$unknown");
  });

  test("arguments and results may be absent", async () => {
    const client = connect();
    expect(await client.call("Name")).toMatchObject({ result: "corner" });
    expect(await client.call("Clear")).toMatchObject({});
    expect(await client.call("Order")).toMatchObject({ result: { items: [], total: 0n } });
  });

  test("a stream yields its items in order", async () => {
    const prices: unknown[] = [];
    for await (const { result } of connect().stream("Follow", { item: items[0], count: 200 })) {
      prices.push((result as Data)["number"]);
    }
    expect(prices).toHaveLength(200);
    const first = prices[0] as number;
    expect(prices).toEqual(Array.from({ length: 200 }, (_, i) => first + i));
  });

  test("errors of handlers have codes, texts and details", async () => {
    const error = await connect().call("Fail", { name: "SoldOutError" }).catch(ConnectError.from);
    expect(error).toMatchObject({ code: Code.FailedPrecondition, rawMessage: "there is none left" });
    const [detail] = (error as ConnectError).details as { type: string; value: Uint8Array }[];
    expect(detail?.type).toBe("google.rpc.ErrorInfo");
    const text = Buffer.from(detail!.value).toString("latin1");
    expect(text).toMatch(/SOLD_OUT_ERROR.*viceroy.*shops\[\d\].*shops\.fail/s);
    const other = await connect().call("Fail", { name: "x" }).catch(ConnectError.from);
    expect(other).toMatchObject({ code: Code.Unknown, rawMessage: "out of range" });
  });

  test("a deadline rejects the call and reaches the handler", async () => {
    const client = connect();
    const error = await client.call("Wait", { caller: `${name}, late` }, { timeoutMs: 2000 }).catch(ConnectError.from);
    expect(error).toMatchObject({ code: Code.DeadlineExceeded });
    await untilAmong(client, "GivenUp", `${name}, late`);
  });

  test("a client that disconnects aborts the signal of the handler", async () => {
    const client = connect();
    const leave = new AbortController();
    const caller = `${name}, gone`;
    const waiting = client.call("Wait", { caller }, { signal: leave.signal }).catch(ConnectError.from);
    await untilAmong(client, "Waiting", caller);
    leave.abort();
    expect(await waiting).toMatchObject({ code: Code.Canceled });
    await untilAmong(client, "GivenUp", caller);
  });

  test("a client that leaves a stream stops the stream", async () => {
    const client = connect();
    const item = { name: `${name}, stream`, cents: 1n };
    const leave = new AbortController();
    const follow = async () => {
      for await (const _ of client.stream("Follow", { item, count: 4_000_000_000 }, { signal: leave.signal }))
        leave.abort();
    };
    expect(await follow().catch(ConnectError.from)).toMatchObject({ code: Code.Canceled });
    await untilAmong(client, "GivenUp", item.name);
  });
});

/** Repeats a request until the actor that had this caller answers and names it. */
function untilAmong(client: Client, method: "Waiting" | "GivenUp", caller: string): Promise<void> {
  return until(async () => ((await client.call(method)) as { result: string[] }).result.includes(caller));
}

describe("grpc-js", () => {
  test("calls unary and streaming methods, with errors and deadlines", async () => {
    const client = new grpc.Client(`127.0.0.1:${ports.http2}`, grpc.credentials.createInsecure());
    const method = (name: string): DescMethod => service.methods.find((method) => method.name === name)!;
    const encode = (name: string) => (value: Data) =>
      Buffer.from(toBinary(method(name).input, create(method(name).input, value as never)));
    const decode = (name: string) => (bytes: Buffer) => fromBinary(method(name).output, bytes);
    const at = (name: string) => `/${service.typeName}/${name}`;
    const call = (name: string, request: Data, deadline?: number) =>
      new Promise<Message>((resolve, reject) => {
        const options = deadline === undefined ? {} : { deadline };
        client.makeUnaryRequest(at(name), encode(name), decode(name), request, options, (error, value) =>
          error === null ? resolve(value as Message) : reject(error),
        );
      });
    expect(await call("Order", { items })).toMatchObject({ result: { items, total: 350n + 2n ** 63n } });
    await expect(call("Fail", { name: "x" })).rejects.toMatchObject({
      code: grpc.status.UNKNOWN,
      details: "out of range",
    });
    await expect(call("Wait", { caller: "grpc-js" }, Date.now() + 300)).rejects.toMatchObject({
      code: grpc.status.DEADLINE_EXCEEDED,
    });
    const stream = client.makeServerStreamRequest(at("Follow"), encode("Follow"), decode("Follow"), {
      item: items[0],
      count: 3,
    });
    const received: unknown[] = [];
    for await (const message of stream) received.push(message);
    expect(received).toHaveLength(3);
    client.close();
  });
});

describe("buf curl", () => {
  test.each(["connect", "grpc", "grpcweb"])("over %s", async (protocol) => {
    const files = [...(registry.files ?? [])].map(({ proto }) => proto);
    const schema = path.join(folder, "schema.binpb");
    writeFileSync(schema, toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: files })));
    const url = `http://127.0.0.1:${ports.http2}/${service.typeName}/Order`;
    const args = ["curl", "--schema", schema, "--protocol", protocol, "--http2-prior-knowledge", "-d", request, url];
    const { stdout } = await promisify(execFile)(path.join(bin, "buf"), args);
    expect(JSON.parse(stdout)).toMatchObject({
      result: {
        items: [{ name: "tea", cents: "350", size: "SIZE_LARGE" }],
        total: "350",
        at: "2023-11-14T22:13:20.123Z",
      },
    });
  });
  const request = JSON.stringify({ items: [{ name: "tea", cents: "350", size: "SIZE_LARGE" }] });
});

test("the trace of a client is continued, and a malformed one is ignored", async () => {
  const trace = async (traceparent: string): Promise<string> => {
    const headers = { "Content-Type": "application/json", traceparent };
    const url = `http://localhost:${ports.http1}/${service.typeName}/Trace`;
    const answer = await fetch(url, { method: "POST", headers, body: "{}" });
    return ((await answer.json()) as { result: string }).result;
  };
  const id = "4bf92f3577b34da6a3ce929d0e0e4736";
  expect(await trace(`00-${id}-00f067aa0ba902b7-01`)).toMatch(
    new RegExp(`^00-${id}-(?!00f067aa0ba902b7)[\\da-f]{16}-01$`),
  );
  expect(await trace(`00-${id}`)).toMatch(new RegExp(`^00-(?!${id})[\\da-f]{32}-[\\da-f]{16}-00$`));
});

describe("failures", () => {
  test("an endpoint that takes a port is refused for any request", async () => {
    const client = clients["gRPC, HTTP/2"]!();
    for (const state of [new Uint8Array(), Uint8Array.of(1, 2, 3), new Uint8Array(200).fill(255)]) {
      const error = await client.call("Subscribe", { to: { state } }).catch(ConnectError.from);
      expect(error).toMatchObject({
        code: Code.Unimplemented,
        rawMessage:
          "cannot serve Shop.subscribe: its request can hold a Port at to; handles mean something inside a running mesh alone",
      });
    }
    expect(await client.call("Subscribe").catch(ConnectError.from)).toMatchObject({ code: Code.Unimplemented });
    expect(await client.call("Name")).toMatchObject({ result: "corner" });
  });

  test("an actor whose process has died is unavailable, and the other actor answers", async () => {
    const client = clients["gRPC, HTTP/2"]!();
    const error = await client.call("Crash").catch(ConnectError.from);
    expect(error).toMatchObject({ code: Code.Unavailable });
    expect((error as ConnectError).rawMessage).toMatch(/^cannot call shops\.crash on rank \d: /);
    for (let i = 0; i < 40; i++) expect(await client.call("Name")).toMatchObject({ result: "corner" });
    for (let i = 0; i < 20; i++) {
      for await (const { result } of client.stream("Follow", { item: items[0], count: 1 })) {
        expect(result).toMatchObject({ items: [{ name: "tea" }] });
      }
    }
  });
});
