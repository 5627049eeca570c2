/** Checks the option `inspect` with a client of the inspector protocol, as debuggers are. */
import { once } from "node:events";
import fs from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type InspectOptions, thisHost } from "../../runtime/index.js";
import { root, run } from "../examples/program.js";
import { installInto, write } from "../examples/project.js";

let folder: string;

/**
 * Spawns two processes and debugs them. The handler has a breakpoint. The client reads a local variable there, and
 * continues.
 */
const main = `
import { thisHost } from "viceroy";
import "../generated/registry.js";
import type { SquareMesh } from "../generated/square.js";
const options = JSON.parse(process.argv[2]!);
const targets = new Map<number, string>();
let ready!: () => void;
const listening = new Promise<void>((resolve) => { ready = resolve; });
const stdio = (line: string, { rank }: { rank: number }) => {
  const url = /Debugger listening on (ws:\\S+)/.exec(line)?.[1];
  if (url === undefined) return;
  targets.set(rank, url);
  if (targets.size === 2) ready();
};
async function debug(url: string) {
  const socket = new WebSocket(url);
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  let id = 0;
  const answers = new Map<number, (result: any) => void>();
  const seen: string[] = [];
  const send = (method: string, params: object = {}) => new Promise<any>((resolve) => {
    answers.set(++id, resolve);
    socket.send(JSON.stringify({ id, method, params }));
  });
  const paused = async ({ callFrames }: any) => {
    if (callFrames[0].functionName === "square") {
      const { result } = await send("Debugger.evaluateOnCallFrame", { callFrameId: callFrames[0].callFrameId, expression: "value * 100" });
      seen.push(String(result.value));
    } else seen.push("waiting");
    await send("Debugger.resume");
  };
  socket.addEventListener("message", ({ data }: any) => {
    const message = JSON.parse(String(data));
    if (message.id !== undefined) answers.get(message.id)?.(message.result);
    else if (message.method === "Debugger.paused") void paused(message.params);
  });
  await send("Debugger.enable");
  await send("Runtime.runIfWaitingForDebugger");
  return { seen, close: () => socket.close() };
}
async function program() {
  const { SquareServer } = await import("./square-server.js");
  await using procs = thisHost().spawnProcs({ gpus: 2 }, { inspect: options, stdio });
  const squares = procs.spawn("squares", SquareServer) as unknown as SquareMesh<"gpus">;
  const answers = squares.square.call(7);
  await listening;
  const ports = [0, 1].map((rank) => Number(new URL(targets.get(rank)!).port));
  const sessions = await Promise.all([0, 1].map((rank) => debug(targets.get(rank)!)));
  const values = [...(await answers).values()];
  console.log(JSON.stringify({ values, ports, seen: sessions.map(({ seen }) => seen) }));
  for (const { close } of sessions) close();
}
program().catch((error) => { console.error(error); process.exit(1); });
`;

beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(tmpdir(), "viceroy-inspect-"));
  installInto(folder);
  const files = {
    "package.json": `{ "name": "app", "type": "module" }`,
    "viceroy.config.ts": `export default { schemas: "schemas/**/*.ts", actors: "src/square-server.ts", out: "generated" };\n`,
    "schemas/square.ts": `import type { Actor, Int32 } from "viceroy/schema";
export interface Square extends Actor { square(value: Int32): Int32; }\n`,
    "src/square-server.ts": `import { SquareActor } from "../generated/square.js";
export class SquareServer extends SquareActor {
  square(value: number) {
    debugger;
    return value * value;
  }
}\n`,
    "src/main.ts": main,
  };
  for (const [name, text] of Object.entries(files)) write(path.join(folder, name), text);
  const { code, stdout, stderr } = await run(
    process.execPath,
    [path.join(root, "dist/cli/viceroy.js"), "compile"],
    folder,
  );
  expect(code, stdout + stderr).toBe(0);
}, 120_000);
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

async function debugged(
  options: true | InspectOptions,
): Promise<{ values: number[]; ports: number[]; seen: string[][] }> {
  const args = [
    "--experimental-websocket",
    "--import",
    import.meta.resolve("tsx"),
    "src/main.ts",
    JSON.stringify(options),
  ];
  const { code, stdout, stderr } = await run(process.execPath, args, folder);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as { values: number[]; ports: number[]; seen: string[][] };
}

/** Returns a port that is free, like the one after it. */
async function freePorts(): Promise<number> {
  for (;;) {
    const [first, second] = [createServer(), createServer()];
    await once(first.listen(0, "127.0.0.1"), "listening");
    const { port } = first.address() as { port: number };
    const isFree =
      port < 65_535 &&
      (await once(second.listen(port + 1, "127.0.0.1"), "listening").then(
        () => true,
        () => false,
      ));
    first.close();
    second.close();
    if (isFree) return port;
  }
}

test("with break, a debugger attaches before the first message and stops in its handler", async () => {
  const port = await freePorts();
  const { values, ports, seen } = await debugged({ port, break: true });
  expect(ports).toEqual([port, port + 1]);
  expect(seen).toEqual([
    ["waiting", "700"],
    ["waiting", "700"],
  ]);
  expect(values).toEqual([49, 49]);
});

test("without a port, each process listens at a free one, and does not wait", async () => {
  const { values, ports } = await debugged(true);
  expect(new Set(ports).size).toBe(2);
  expect(values).toEqual([49, 49]);
});

test("a malformed option is refused", () => {
  const spawn = (options: object) => () => thisHost().spawnProcs({ gpus: 2 }, options);
  expect(spawn({ inspect: 9229 })).toThrow("cannot spawn procs: expected inspect to be true or options, got 9229");
  expect(spawn({ inspect: { port: 65_535 } })).toThrow(
    "cannot spawn procs: expected inspect.port from 1 to 65534 for 2 processes, got 65535",
  );
  expect(spawn({ inspect: { port: 0 } })).toThrow(
    "cannot spawn procs: expected inspect.port from 1 to 65534 for 2 processes, got 0",
  );
  expect(spawn({ inspect: { break: 1 } })).toThrow("cannot spawn procs: expected inspect.break to be a boolean, got 1");
  expect(spawn({ inspect: { ports: 1 } })).toThrow("cannot spawn procs with inspect");
  expect(spawn({ inspect: true, execArgv: ["--inspect=0"] })).toThrow(
    "cannot spawn procs: inspect and execArgv both start a debugger, got execArgv --inspect=0",
  );
  expect(spawn({ inspect: true, isolation: "thread" })).toThrow(
    'cannot spawn procs: isolation "thread" has no inspect, got true',
  );
});
