/**
 * Tests of generated clients (`emit: ["connect"]`) in Node.js and in a real browser: against the gateway, whose page has
 * another origin, and behind nginx with HTTP/1.1 and HTTP/2.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Code, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { build, type Metafile } from "esbuild";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { peer } from "../peers.js";
import { compileProject } from "../proc/crew.js";
import { type Nginx, startNginx } from "./nginx.js";
import type { PageCall } from "./project/programs/page.js";
import type { Scenario, scenarios } from "./project/programs/scenarios.js";

const project = fileURLToPath(new URL("./project/", import.meta.url));
const root = fileURLToPath(new URL("../../", import.meta.url));
const chromiumProgram = peer("chromium-headless-shell");
const nginxProgram = peer("nginx");

let pages: Server;
let origin: string;
let server: ChildProcess;
let complaints = "";
let ports: { readonly http2: number; readonly http1: number };
let folder: string;
let inputs: Metafile["inputs"];

beforeAll(async () => {
  await compileProject(project);
  const bundle = await build({
    absWorkingDir: root,
    entryPoints: [path.join(project, "programs/page.ts")],
    bundle: true,
    platform: "browser",
    format: "esm",
    metafile: true,
    write: false,
  });
  inputs = bundle.metafile.inputs;
  const script = bundle.outputFiles[0]!.contents;
  pages = createServer(({ url }, response) => {
    response.setHeader("Content-Type", url === "/page.js" ? "text/javascript" : "text/html; charset=utf-8");
    response.end(url === "/page.js" ? script : '<!doctype html><script type="module" src="/page.js"></script>');
  });
  await once(pages.listen(0, "127.0.0.1"), "listening");
  origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  server = spawn(process.execPath, ["--import", "tsx", path.join(project, "programs/serve-web.ts"), origin], {
    cwd: project,
    stdio: ["pipe", "pipe", "pipe"],
  });
  server.stderr!.setEncoding("utf8").on("data", (text: string) => {
    complaints += text;
  });
  const [line] = await once(createInterface(server.stdout!), "line");
  const [http2, http1] = JSON.parse(line as string) as [number, number];
  ports = { http2, http1 };
  folder = mkdtempSync(path.join(tmpdir(), "viceroy-client-"));
});

async function endServer(): Promise<void> {
  const closed = server?.exitCode === null ? once(server, "close") : undefined;
  server?.stdin?.end();
  await closed;
}

afterAll(async () => {
  pages?.close();
  await endServer();
  if (folder !== undefined) rmSync(folder, { recursive: true });
});

/** Runs a scenario with one kind of client. */
type Run = (scenario: keyof typeof scenarios, caller?: string, token?: string) => Promise<unknown>;

/** The promises that every client keeps, over every transport. */
function describeClient(name: string, run: Run): void {
  test("values of the schema are passed in both directions", async () => {
    expect(await run("order")).toEqual({
      number: expect.any(Number),
      items: [
        { name: "tea", cents: 350n, size: "small" },
        { name: "größe ☕", cents: 2n ** 63n },
      ],
      total: 350n + 2n ** 63n,
      at: new Date(1_700_000_000_123),
      notes: { note: "hot" },
    });
    expect(await run("absent")).toEqual(["corner", undefined, []]);
    expect(await run("texts")).toBe(true);
    expect(await run("large")).toBe(1_000_000);
  });

  test("a stream is an async iterable, and leaving the loop ends the stream of the actor", async () => {
    expect(await run("follow")).toEqual(Array.from({ length: 200 }, () => "tea"));
    expect(await run("left", `${name}, left`)).toEqual([1, 1, 1]);
  });

  test("actorFailure returns the class of the error, the actor, its rank and the endpoint", async () => {
    expect(await run("soldOut")).toEqual({
      code: Code.FailedPrecondition,
      text: "there is none left",
      failure: {
        reason: "SOLD_OUT_ERROR",
        remoteName: "SoldOutError",
        actor: expect.stringMatching(/^shops\[[01]\]$/),
        ranks: [expect.toBeOneOf([0, 1])],
        endpoint: "shops.fail",
      },
    });
  });

  test("invalid arguments and options are refused before a request is sent", async () => {
    expect(await run("invalid")).toEqual([
      expect.stringMatching(/^CodecError: cannot encode .*name.*: expected a string, got 5$/),
      "TypeError: cannot call Shop.order: expected 1 to 2 arguments, got 0",
      "RangeError: cannot use call options: expected a timeout above 0 ms, got -1",
    ]);
  });

  test("a timeout and a signal end the call and reach the handler", async () => {
    expect(await run("late", `${name}, late`)).toMatchObject({ code: Code.DeadlineExceeded });
    expect(await run("aborted", `${name}, aborted`)).toMatchObject({ code: Code.Canceled });
  });

  test("headers of a call are sent", async () => {
    expect(await run("header")).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-/);
  });

  test("a client without a token is refused", async () => {
    expect(await run("refused", "", "wrong")).toEqual({ code: Code.Unauthenticated, text: "this token is not known" });
  });
}

/** Returns a runner of scenarios in this process. */
function inNode(transport: (interceptors: Interceptor[]) => Transport): Run {
  return async (scenario, caller = "", token = "open") => {
    const { createShopClient } = await import("./project/generated/connect/shop.js");
    const { scenarios } = await import("./project/programs/scenarios.js");
    const authorize: Interceptor = (next) => (request) => {
      request.header.set("Authorization", `Bearer ${token}`);
      return next(request);
    };
    return (scenarios[scenario] as Scenario)(createShopClient(transport([authorize])), caller);
  };
}

const http1 = () => ({ baseUrl: `http://127.0.0.1:${ports.http1}`, httpVersion: "1.1" as const });
const http2 = () => ({ baseUrl: `http://127.0.0.1:${ports.http2}`, httpVersion: "2" as const });

describe("in Node.js", () => {
  describe.each<[string, (interceptors: Interceptor[]) => Transport]>([
    ["Connect, JSON, HTTP/1.1", (interceptors) => createConnectTransport({ ...http1(), interceptors })],
    [
      "Connect, binary, HTTP/2",
      (interceptors) => createConnectTransport({ ...http2(), interceptors, useBinaryFormat: true }),
    ],
    ["gRPC, HTTP/2", (interceptors) => createGrpcTransport({ baseUrl: http2().baseUrl, interceptors })],
    ["gRPC-web, HTTP/1.1", (interceptors) => createGrpcWebTransport({ ...http1(), interceptors })],
  ])("%s", (name, transport) => describeClient(`node, ${name}`, inNode(transport)));
});

test("the bundle of a page contains the part of Viceroy for browsers, and nothing that needs Node.js", () => {
  const own = Object.keys(inputs).filter((file) => file.startsWith("dist/"));
  expect(own).not.toEqual([]);
  expect(own.filter((file) => !file.startsWith("dist/browser/"))).toEqual([]);
});

describe.skipIf(chromiumProgram === undefined)("in Chromium", () => {
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumProgram! });
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    page = await context.newPage();
    await page.goto(origin);
  });
  afterAll(() => browser?.close());

  /** Returns a runner of scenarios in the page. */
  const inPage =
    (baseUrl: () => string, protocol: PageCall["protocol"]): Run =>
    (scenario, caller = "", token = "open") => {
      const call: PageCall = { scenario, caller, baseUrl: baseUrl(), protocol, token };
      return page.evaluate(
        (given) => (globalThis as unknown as { runScenario(call: PageCall): Promise<unknown> }).runScenario(given),
        call,
      );
    };

  const protocols = ["Connect, JSON", "Connect, binary", "gRPC-web"] as const;

  describe.each(protocols)("%s, from a page of another origin", (protocol) => {
    describeClient(
      `page, ${protocol}`,
      inPage(() => http1().baseUrl, protocol),
    );
  });

  test("a page of an origin that the gateway does not permit cannot call", async () => {
    const other = await page.context().newPage();
    await other.goto(origin.replace("127.0.0.1", "localhost"));
    const call = {
      scenario: "refused",
      caller: "",
      baseUrl: http1().baseUrl,
      protocol: "Connect, JSON",
      token: "open",
    };
    const answer = await other.evaluate(
      (given) => (globalThis as unknown as { runScenario(call: object): Promise<unknown> }).runScenario(given),
      call,
    );
    expect(answer).toMatchObject({ code: Code.Unknown, text: "Failed to fetch" });
    await other.close();
  });

  test("generated actor classes load, and refuse to be created", async () => {
    const { outputFiles } = await build({
      stdin: {
        contents: `import { registerActors } from "viceroy/codegen/v1";
          import { ShopActor } from "./generated/shop.js";
          class MyShop extends ShopActor {}
          const refusal = async (step) => String(await Promise.resolve().then(step).catch((error) => error));
          export default [ShopActor.descriptor.name, await refusal(() => new MyShop()), await refusal(registerActors)];`,
        resolveDir: project,
      },
      bundle: true,
      platform: "browser",
      format: "esm",
      write: false,
    });
    const url = `data:text/javascript,${encodeURIComponent(outputFiles[0]!.text)}`;
    const why = 'actors run in Node.js. Call them through a gateway, with a client of `emit: ["connect"]`';
    expect(await page.evaluate(`import(${JSON.stringify(url)}).then((module) => module.default)`)).toEqual([
      "Shop",
      `Error: cannot create MyShop in a browser: ${why}`,
      `Error: cannot register actors in a browser: ${why}`,
    ]);
  });

  describe.skipIf(nginxProgram === undefined)("behind nginx", () => {
    let nginx: Nginx;

    beforeAll(async () => {
      nginx = await startNginx(nginxProgram!, { folder, gateway: ports });
    });
    afterAll(() => nginx?.stop());

    describe("HTTP/1.1", () => {
      describeClient(
        "nginx, HTTP/1.1",
        inPage(() => nginx.http1, "Connect, JSON"),
      );
      test("nginx received requests over HTTP/1.1", () => {
        expect(readFileSync(nginx.log, "utf8")).toMatch(/"POST \S+ HTTP\/1\.1" 200/);
      });
    });

    describe("HTTP/2", () => {
      describeClient(
        "nginx, HTTP/2",
        inPage(() => nginx.http2, "Connect, binary"),
      );
      test("nginx received requests over HTTP/2", () => {
        expect(readFileSync(nginx.log, "utf8")).toMatch(/"POST \S+ HTTP\/2\.0" 200/);
      });
    });

    describe("gRPC from Node.js", () => {
      describeClient(
        "nginx, gRPC",
        inNode((interceptors) =>
          createGrpcTransport({ baseUrl: nginx.http2, interceptors, nodeOptions: { rejectUnauthorized: false } }),
        ),
      );
    });
  });
});

/**
 * Connect's adapter prints that a handler has failed if the server writes to a client that has just left a stream over
 * HTTP/1.1: it takes the error EPIPE, unlike ECONNRESET, for a fault of the server. Viceroy's routes do not see this error.
 */
const leftWhileWriting =
  /^handler for rpc \S+ of \S+ failed ConnectError: \[internal\] write EPIPE\n(?:[ ].*\n)*\}\n/gm;

test("the gateway warns of an endpoint with a port, and prints of its clients what Connect prints of those that leave a stream", async () => {
  await endServer();
  expect(complaints.replace(leftWhileWriting, "").split("\n")).toEqual([
    `(node:${server.pid}) ViceroyGateway: cannot serve Shop.subscribe: its request can hold a Port at to; handles mean ` +
      "something inside a running mesh alone",
    "(Use `node --trace-warnings ...` to show where the warning was created)",
    "",
  ]);
});
