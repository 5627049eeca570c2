/** A program of one file can contain every entry point of the package, with one copy of the runtime. It can serve the gateway. */
import { symlinkSync } from "node:fs";
import path from "node:path";
import { beforeAll, expect, test, vi } from "vitest";
import { root, run } from "../examples/program.js";
import { write } from "../examples/project.js";
import { deploy, makeProject } from "./project.js";
import { bundleInline, makeExecutable, nodeOf, postject } from "./tools.js";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** Calls its own gateway, as a client in another program would. */
const main = `import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { thisHost } from "viceroy";
import { connectRoutes } from "viceroy/gateway";
import { MemoryCounter } from "./memory-counter.js";

async function main() {
  const procs = thisHost().spawnProcs({});
  const counter = procs.spawn("counter", MemoryCounter, 41);
  const server = createServer(connectNodeAdapter({ routes: connectRoutes(counter) }));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const call = async (method: string, body: object) => {
    const url = \`http://127.0.0.1:\${(server.address() as AddressInfo).port}/shop.v1.CounterService/\${method}\`;
    const request = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    return (await fetch(url, request)).json();
  };
  await call("Increment", { by: 1 });
  console.log(JSON.stringify(await call("Value", {})));
  server.closeAllConnections();
  server.close();
  await procs.stop();
}

main();
`;

const program = `import { runProgram } from "viceroy";
import "../generated/registry.js";

runProgram(() => import("./gateway-main.js"));
`;

/** Imports all entry points that programs use, and compares what they share. */
const everything = `import { Actor, ProcMesh } from "viceroy";
import * as capnp from "viceroy/capnp/v1";
import * as codegen from "viceroy/codegen/v1";
import * as connect from "viceroy/connect/v1";
import * as gateway from "viceroy/gateway";
import * as rdma from "viceroy/rdma";
import * as tensor from "viceroy/tensor";
import * as testing from "viceroy/testing";

const entries: object[] = [capnp, codegen, connect, gateway, rdma, tensor, testing];
const shared = [codegen.Actor === Actor, "activate" in ProcMesh.prototype];
console.log(entries.every((entry) => Object.keys(entry).length > 0), ...shared);
`;

let app: string;
beforeAll(async () => {
  const project = await makeProject();
  for (const scope of ["@connectrpc", "@bufbuild"]) {
    symlinkSync(path.join(root, "node_modules", scope), path.join(project, "node_modules", scope));
  }
  write(path.join(project, "src/gateway-main.ts"), main);
  write(path.join(project, "src/gateway-program.ts"), program);
  write(path.join(project, "src/everything.ts"), everything);
  await bundleInline(project, "src/everything.ts", "esm", "out/everything.mjs");
  await bundleInline(project, "src/everything.ts", "cjs", "out/everything.cjs");
  await bundleInline(project, "src/gateway-program.ts", "esm", "out/app.mjs");
  await bundleInline(project, "src/gateway-program.ts", "cjs", "out/app.cjs");
  app = deploy(path.join(project, "out"), false);
});

test.each(["everything.mjs", "everything.cjs"])("one file (%s) contains every entry point", async (file) => {
  expect(await run(process.execPath, [path.join(app, file)], app)).toEqual({
    code: 0,
    stdout: "true true true\n",
    stderr: "",
  });
});

const answer = { code: 0, stdout: '{"result":42}\n', stderr: "" };

test.each(["app.mjs", "app.cjs"])("a program of one file (%s) serves actors through the gateway", async (file) => {
  expect(await run(process.execPath, [path.join(app, file)], app)).toEqual(answer);
});

test("a single executable application serves actors through the gateway", async () => {
  const node = nodeOf("22");
  if (node === undefined || postject === undefined) return expect(process.env["VICEROY_PEERS"]).not.toBe("required");
  const executable = await makeExecutable(node, path.join(app, "app.cjs"));
  expect(await run(executable, [], path.dirname(executable))).toEqual(answer);
});
