/** Tests that malformed requests are errors of the client with every protocol, also if they are large or compressed. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { create, type DescMethod, type DescService, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compileProject } from "../proc/crew.js";
import { type Protocol, type RawAnswer, type RawRequest, rawCall } from "./raw-request.js";

const project = fileURLToPath(new URL("./project/", import.meta.url));

let server: ChildProcess;
let ports: RawRequest["ports"];
let service: DescService;

beforeAll(async () => {
  await compileProject(project);
  server = spawn(process.execPath, ["--import", "tsx", path.join(project, "programs/serve.ts")], {
    cwd: project,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface(server.stdout!), "line")) as [string];
  const [http2, http1] = JSON.parse(line) as [number, number];
  ports = { http1, http2 };
  const { connectService } = await import("viceroy/gateway");
  const { ShopActor } = await import("./project/generated/shop.js");
  ({ service } = connectService(ShopActor));
});

afterAll(async () => {
  server.stdin?.end();
  if (server.exitCode === null) await once(server, "exit");
});

type What = Omit<RawRequest, "ports" | "path"> & { readonly method: string };

function call(protocol: Protocol, { method, ...rest }: What): Promise<RawAnswer> {
  return rawCall(protocol, { ports, path: `/${service.typeName}/${method}`, ...rest });
}

const methodOf = (name: string): DescMethod => service.methods.find((method) => method.name === name)!;

const items = [{ name: "tea", cents: 350n }];
const requests = { Order: { items, note: "größe ☕" }, Follow: { item: items[0], count: 3 } };

function binary(method: keyof typeof requests): Uint8Array {
  const { input } = methodOf(method);
  return toBinary(input, create(input, requests[method] as never));
}

function json(method: keyof typeof requests): Uint8Array {
  return Buffer.from(
    JSON.stringify(requests[method], (_, value) => (typeof value === "bigint" ? String(value) : value)),
  );
}

/** Replaces the text `tea` by bytes that are not valid UTF-8. */
function spoilt(bytes: Uint8Array): Uint8Array {
  const copy = Buffer.from(bytes);
  copy[copy.indexOf("tea") + 1] = 0xff;
  return copy;
}

const compressors = { gzip: gzipSync, br: brotliCompressSync };
const encodings = [undefined, "gzip", "br"] as const;
const protocols = [
  ["Connect", "Order"],
  ["gRPC", "Order"],
  ["gRPC-web", "Order"],
  ["Connect, streaming", "Follow"],
  ["gRPC", "Follow"],
  ["gRPC-web", "Follow"],
] as const;
const invalidArgument = (protocol: Protocol) => (protocol.startsWith("Connect") ? "invalid_argument" : 3);

describe.each(protocols)("%s, %s", (protocol, method) => {
  describe.each(encodings)("compressed by %s", (encoding) => {
    const send = (format: "proto" | "json", message: Uint8Array): Promise<RawAnswer> => {
      if (encoding === undefined) return call(protocol, { method, format, payload: message });
      return call(protocol, { method, format, payload: compressors[encoding](message), encoding });
    };
    const refused = (why: RegExp) => ({ code: invalidArgument(protocol), message: expect.stringMatching(why) });

    test("a well-formed request is answered", async () => {
      expect(await send("proto", binary(method))).toMatchObject({ code: 0 });
      expect(await send("json", json(method))).toMatchObject({ code: 0 });
    });

    test("bytes that end too early are invalid", async () => {
      const text = new RegExp(`^cannot decode a request of ${service.typeName}/${method}: premature EOF$`);
      expect(await send("proto", binary(method).subarray(0, -1))).toMatchObject(refused(text));
      expect(await send("json", json(method).subarray(0, -1))).toMatchObject(refused(/JSON/));
    });

    test("text that is not UTF-8 is invalid", async () => {
      const text = new RegExp(`^cannot decode a request of ${service.typeName}/${method}: .*UTF-?8`, "i");
      expect(await send("proto", spoilt(binary(method)))).toMatchObject(refused(text));
      expect(await send("json", spoilt(json(method)))).toMatchObject(
        refused(/^cannot decode a request in JSON: expected UTF-8$/),
      );
    });
  });

  test("random bytes are never an error of the server", async () => {
    const message = binary(method);
    const changes = fc.array(fc.tuple(fc.nat(message.length - 1), fc.nat(255)), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(changes, fc.nat(message.length), async (bytes, end) => {
        const payload = Uint8Array.from(message);
        for (const [at, value] of bytes) payload[at] = value;
        const { code } = await call(protocol, { method, format: "proto", payload: payload.subarray(0, end) });
        expect([0, invalidArgument(protocol)]).toContain(code);
      }),
      { numRuns: 100 },
    );
  });
});

test("JSON with half of a surrogate pair is invalid", async () => {
  const payload = Buffer.from('{"note": "\\ud83c"}');
  const answer = await call("Connect", { method: "Order", format: "json", payload });
  expect(answer).toMatchObject({ code: "invalid_argument" });
});
