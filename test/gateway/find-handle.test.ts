/**
 * Tests that handles do not pass the gateway. Endpoints that could take or return a handle are refused, at any depth of
 * the schema. Forged handles reach no actor, and no process connects to their addresses.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { create, type DescField, type DescMessage, type DescMethod, type DescService } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectService } from "../../runtime/gateway/index.js";
import { type Codec, CodecError, codec, defineActor, defineArgs } from "../../runtime/wire/index.js";
import { setWireEnvironment, withoutHandles } from "../../runtime/wire/wire-environment.js";
import { type Forgery, forge } from "../forged.js";
import { compileProject } from "../proc/crew.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const project = fileURLToPath(new URL("./project/", import.meta.url));
const cli = path.join(root, "dist/cli/viceroy.js");

interface Served {
  readonly codec: Codec<unknown>;
  readonly holds: boolean;
}

const shopActor = defineActor({
  key: "a#Shop",
  name: "Shop",
  id: 1,
  fingerprint: 1n,
  args: () => defineArgs(codec.parameters("Shop", {}), 0, 0),
  endpoints: () => ({}),
});

const handles: readonly Codec<unknown>[] = [
  codec.port(() => codec.string),
  codec.mesh(() => shopActor),
  codec.rdmaBuffer(),
  codec.tensor(),
  codec.objectRef(() => codec.string),
];
const plain: readonly Codec<unknown>[] = [codec.int32, codec.string, codec.bytes, codec.any, codec.value, codec.date];

/** Types that contain other types in every way, each with whether it contains a handle. */
const types = fc.letrec<{ type: Served }>((tie) => {
  const inner = tie("type");
  const around = (make: (codec: Codec<unknown>) => Codec<unknown>) =>
    inner.map(({ codec, holds }): Served => ({ codec: make(codec), holds }));
  const both = (make: (a: Codec<unknown>, b: Codec<unknown>) => Codec<unknown>) =>
    fc.tuple(inner, inner).map(([a, b]): Served => ({ codec: make(a.codec, b.codec), holds: a.holds || b.holds }));
  const object = (field: Codec<unknown>) => codec.object("Boxed", { field });
  return {
    type: fc.oneof(
      { depthSize: "medium", withCrossShrink: true },
      { weight: 8, arbitrary: fc.constantFrom(...plain).map((codec) => ({ codec, holds: false })) },
      { weight: 1, arbitrary: fc.constantFrom(...handles).map((codec) => ({ codec, holds: true })) },
      around((one) => codec.array(one)),
      around((one) => codec.set(one)),
      around((one) => codec.record(one)),
      around((one) => codec.optional(one)),
      around((one) => codec.nullable(one)),
      around((one) => codec.lazy(() => one)),
      around((one) => codec.tupleWithRest([codec.int32], one)),
      both((a, b) => codec.map(a, b)),
      both((a, b) => codec.map(codec.string, codec.tuple(a, b))),
      both((a, b) => codec.object("Pair", { a, b: codec.optional(b) })),
      both((a, b) => codec.union("Either", "kind", () => ({ a: object(a), b: object(b) }))),
      both((a, b) => codec.oneof("Choice", () => ({ a, b }))),
      both((a, b) =>
        codec.object(
          "Flat",
          { a, choice: codec.oneof("", () => ({ b, c: codec.int32 }), { numbers: [30, 31] }) },
          { flat: ["choice"] },
        ),
      ),
      around((one) => {
        const list: Codec<object> = codec.object<{ next?: object; value: unknown }>("List", () => ({
          next: codec.optional(list as Codec<object>),
          value: one,
        })) as Codec<object>;
        return list as Codec<unknown>;
      }),
    ),
  };
}).type;

describe("refused endpoints", () => {
  test("are those whose arguments or answers can contain a handle", () => {
    fc.assert(
      fc.property(types, types, fc.boolean(), (taken, given, stream) => {
        const descriptor = defineActor({
          key: "a#Probe",
          name: "Probe",
          id: 2,
          service: "probe.v1.ProbeService",
          fingerprint: 2n,
          args: () => defineArgs(codec.parameters("Probe", { port: handles[0]! }), 1, 1),
          endpoints: () => ({
            take: { id: 1, args: defineArgs(codec.parameters("Probe.take", { it: taken.codec }), 1, 1) },
            give: { id: 2, args: defineArgs(codec.parameters("Probe.give", {}), 0, 0), result: given.codec, stream },
          }),
        });
        const { refused } = connectService({ descriptor });
        expect(refused.has("Take")).toBe(taken.holds);
        expect(refused.has("Give")).toBe(given.holds);
      }),
      { numRuns: 500 },
    );
  });
});

describe("withoutHandles", () => {
  const environment = () => "read";
  const write = () => {};
  const inMeshes = { readPort: environment, readMesh: environment, writePort: write, writeMesh: write };
  const others = { readBuffer: environment, readTensor: environment, readObjectRef: environment };
  const known = { ...inMeshes, ...others, writeBuffer: write, writeTensor: write, writeObjectRef: write };

  test.each(handles.map((handle) => [handle.name, handle] as const))("refuses a %s in both layouts", (_, handle) => {
    setWireEnvironment(known);
    const list = codec.array(handle);
    const [lockstep, protobuf] = [list.encode([1]), list.toProtobuf([1])];
    const text = /^cannot (de|en)code .*: a \w+ means something inside a running mesh alone$/;
    for (const step of [
      (): unknown => list.decode(lockstep),
      () => list.fromProtobuf(protobuf),
      () => list.encode([1]),
      () => list.toProtobuf([1]),
    ]) {
      expect(() => withoutHandles(step)).toThrow(CodecError);
      expect(() => withoutHandles(step)).toThrow(text);
    }
    expect(list.decode(lockstep)).toEqual(["read"]);
    setWireEnvironment(undefined);
  });
});

/** Makes a client of relays that a separate process serves. */
interface Gateway {
  readonly server: ChildProcess;
  readonly warnings: readonly string[];
  call(method: DescMethod, request: object): Promise<Readonly<Record<string, unknown>>>;
}

let folder: string;
let service: DescService;
let forgery: Forgery;
let attacker: Server;
let connections = 0;

beforeAll(async () => {
  await compileProject(project);
  const gateway = await import("viceroy/gateway");
  const { RelayActor } = await import("./project/generated/relay.js");
  const { ShopActor } = await import("./project/generated/shop.js");
  service = gateway.connectService(RelayActor).service;
  folder = mkdtempSync(path.join(tmpdir(), "viceroy-handles-"));
  const socket = path.join(folder, "evil.sock");
  attacker = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await once(attacker.listen(socket), "listening");
  forgery = { proc: 0x1234n, location: `unix:${socket}`, actor: ShopActor.descriptor.key };
});

afterAll(() => {
  attacker.close();
  rmSync(folder, { recursive: true });
});

async function serve(...args: string[]): Promise<Gateway> {
  const program = path.join(project, "programs/serve-relays.ts");
  const server = spawn(process.execPath, ["--import", "tsx", program, ...args], {
    cwd: project,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface(server.stdout), "line")) as [string];
  const { port, warnings } = JSON.parse(line) as { port: number; warnings: string[] };
  const client = createClient(service, createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` })) as never as Record<
    string,
    (request: object) => unknown
  >;
  return {
    server,
    warnings,
    async call(method, request) {
      const answer = client[method.localName]!(request);
      if (method.methodKind === "unary") return (await answer) as Record<string, unknown>;
      let last = {};
      for await (const item of answer as AsyncIterable<object>) last = item;
      return last;
    },
  };
}

async function end({ server }: Gateway): Promise<void> {
  server.stdin!.end();
  if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
}

const methodOf = (name: string): DescMethod => service.methods.find((method) => method.name === name)!;
const served = new Set(["Plain", "PlainChain", "Arrived"]);

/** Makes random messages of a type that contain forged handles. */
function messages(desc: DescMessage, depth = 3): fc.Arbitrary<object> {
  if (desc.typeName.startsWith("viceroy.handle.")) {
    return fc.constant({ state: forge(desc.name, forgery) });
  }
  const fields = Object.fromEntries(
    desc.fields
      .filter((field) => field.oneof === undefined && fits(field, depth))
      .map((f) => [f.localName, values(f, depth)]),
  );
  const oneofs = Object.fromEntries(
    desc.oneofs.map((oneof) => {
      const cases = oneof.fields.filter((field) => fits(field, depth));
      const one = cases.map((field) => values(field, depth).map((value) => ({ case: field.localName, value })));
      return [oneof.localName, fc.oneof(...one)];
    }),
  );
  return fc.record({ ...fields, ...oneofs });
}

function fits(field: DescField, depth: number): boolean {
  return depth > 0 || field.message === undefined || field.message.typeName.startsWith("viceroy.handle.");
}

function values(field: DescField, depth: number): fc.Arbitrary<unknown> {
  const single = field.message === undefined ? fc.constantFrom(undefined) : messages(field.message, depth - 1);
  switch (field.fieldKind) {
    case "scalar":
      return String(field.scalar) === "9" ? fc.string() : fc.constant(3);
    case "message":
      return single;
    case "list":
      return field.message === undefined ? fc.constant([]) : fc.array(single, { minLength: 1, maxLength: 3 });
    case "map":
      return field.message === undefined
        ? fc.constant({})
        : fc.dictionary(fc.string(), single, { minKeys: 1, maxKeys: 3 });
    default:
      return fc.constant(field.enum?.values.at(-1)?.number ?? 0);
  }
}

describe("a served mesh", () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await serve();
  });
  afterAll(() => end(gateway));

  test("a warning names the refused endpoints and the paths of their handles", () => {
    expect(gateway.warnings).toHaveLength(1);
    const lines = gateway.warnings[0]!.split("\n");
    expect(lines).toHaveLength(service.methods.length - served.size);
    const alone = "; handles mean something inside a running mesh alone";
    expect(lines).toContain(`cannot serve Relay.port: its request can hold a Port at to${alone}`);
    expect(lines).toContain(`cannot serve Relay.deep: its request can hold a Mesh at chain.value.value.shops${alone}`);
    expect(lines).toContain(`cannot serve Relay.giveMemory: its answer can hold a RdmaBuffer at result${alone}`);
  });

  test("forged handles reach no actor, and no process connects to their addresses", async () => {
    const requests = fc
      .constantFrom(...service.methods)
      .chain((method) => messages(method.input).map((request) => [method, request] as const));
    await fc.assert(
      fc.asyncProperty(requests, async ([method, request]) => {
        const answer = await gateway.call(method, create(method.input, request as never)).catch(ConnectError.from);
        if (served.has(method.name)) expect(answer).not.toBeInstanceOf(ConnectError);
        else
          expect(answer).toMatchObject({
            code: Code.Unimplemented,
            rawMessage: expect.stringMatching(/^cannot serve /),
          });
      }),
      { numRuns: 200 },
    );
    expect(await gateway.call(methodOf("Arrived"), {})).toMatchObject({ result: 0 });
    expect(connections).toBe(0);
  });
});

/** Writes a newer build, in which `Parcel` has a port and the port is used. */
function buildNewer(): string {
  const newer = path.join(folder, "newer");
  mkdirSync(path.join(newer, "node_modules"), { recursive: true });
  symlinkSync(root, path.join(newer, "node_modules/viceroy"));
  symlinkSync(path.join(root, "node_modules/tsx"), path.join(newer, "node_modules/tsx"));
  for (const name of ["schemas", "src", "viceroy.config.ts", "viceroy.lock"]) {
    cpSync(path.join(project, name), path.join(newer, name), { recursive: true });
  }
  writeFileSync(path.join(newer, "package.json"), `${JSON.stringify({ name: "viceroy", type: "module" })}\n`);
  replace(
    path.join(newer, "schemas/relay.ts"),
    "  inner?: Parcel;",
    "  inner?: Parcel;\n  /** @id 9 */\n  reply?: Port<string>;",
  );
  replace(
    path.join(newer, "src/trusting-relay.ts"),
    "    return parcel;",
    "    this.#send(parcel.reply);\n    return { ...parcel, reply: this.givePort() };",
  );
  execFileSync(process.execPath, [cli, "compile"], { cwd: newer, stdio: "inherit" });
  return path.join(newer, "generated/registry.ts");
}

function replace(file: string, old: string, by: string): void {
  const text = readFileSync(file, "utf8");
  expect(text).toContain(old);
  writeFileSync(file, text.replace(old, by));
}

test("fields that only a newer process knows to be handles are dropped in both directions", async () => {
  const gateway = await serve(buildNewer());
  const plain = methodOf("Plain");
  const state = forge("Port", forgery);
  // Field 9, a message with field 1: the port of the newer schema.
  const unknown = { no: 9, wireType: 2, data: Uint8Array.of(state.length + 2, 0x0a, state.length, ...state) };
  expect(state.length).toBeLessThan(126);
  const parcel = { text: "tea", $unknown: [unknown] };
  const { result } = await gateway.call(plain, { parcel: { ...parcel, inner: parcel } });
  expect(result).toMatchObject({ text: "tea", inner: { text: "tea" } });
  expect((result as { $unknown?: unknown }).$unknown).toBeUndefined();
  expect(await gateway.call(methodOf("Arrived"), {})).toMatchObject({ result: 0 });
  expect(connections).toBe(0);
  await end(gateway);
});
