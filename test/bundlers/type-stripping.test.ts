/** Generated code runs in versions of Node.js that strip types, in the program and in its child processes. */
import { spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, expect, test, vi } from "vitest";
import { root, run } from "../examples/program.js";
import { write } from "../examples/project.js";
import { makeProject, succeed, viceroy } from "./project.js";
import { nodeOf } from "./tools.js";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const settings = {
  compilerOptions: {
    ...{ target: "es2022", lib: ["es2023", "esnext.disposable"], module: "nodenext", types: ["node"], strict: true },
    ...{ noEmit: true, allowImportingTsExtensions: true, erasableSyntaxOnly: true, verbatimModuleSyntax: true },
    skipLibCheck: true,
  },
  include: ["src", "schemas", "generated"],
};

/** A schema with everything for which generated code could use syntax that is not erasable. */
const schema = `import type { Actor, Int32, Stream } from "viceroy/schema";
import type { Color } from "./shapes.ts";

export interface Counter extends Actor<[initial: Int32]> {
  increment(by?: Int32): void;
  value(): Int32;
  watch(count: Int32): Stream<Int32>;
  mix(first: Color, second: Color): Color;
}
`;
const shapes = `export type Color = "red" | "green";
export interface Shape { color: Color; at: Date; kinds: Map<string, Color>; inner?: Shape }
`;

let project: string;
beforeAll(async () => {
  project = await makeProject();
  // Without tsx, child processes have nothing but Node.js itself.
  rmSync(path.join(project, "node_modules/tsx"));
  write(path.join(project, "tsconfig.json"), JSON.stringify(settings));
  write(path.join(project, "schemas/counter.ts"), schema);
  write(path.join(project, "schemas/shapes.ts"), shapes);
  for (const name of ["src/main.ts", "src/memory-counter.ts", "src/program.ts"]) {
    const file = path.join(project, name);
    const text = readFileSync(file, "utf8").replace(/(["']\.[^"']*)\.js(["'])/g, "$1.ts$2");
    writeFileSync(file, text.replace("  value() {", '  mix() {\n    return "red" as const;\n  }\n\n  value() {'));
  }
  await viceroy(project, "compile");
});

test("compile imports .ts files where tsconfig.json allows it, and tsc accepts only erasable syntax in all files", async () => {
  const registry = readFileSync(path.join(project, "generated/registry.ts"), "utf8");
  expect(registry).toContain('import("../src/memory-counter.ts").then((m) => m.MemoryCounter)');
  const counter = readFileSync(path.join(project, "generated/counter.ts"), "utf8");
  expect(counter).toContain('from "./shapes.ts"');
  expect(counter).not.toMatch(/from "\.[^"]*\.js"/);
  await succeed(project, path.join(root, "node_modules/typescript/bin/tsc"), "-p", ".");
});

test.each(["22", "24"] as const)("Node.js %s runs the program and its actors from TypeScript", async (version) => {
  const node = nodeOf(version);
  if (node === undefined) return expect(process.env["VICEROY_PEERS"]).not.toBe("required");
  for (const isolation of ["process", "thread"]) {
    const { stdout, stderr } = await run(
      node,
      ["--disable-warning=ExperimentalWarning", "src/main.ts", isolation],
      project,
    );
    expect({ stdout, stderr }).toEqual({ stdout: "4,4\n", stderr: "" });
  }
});

test("an actor in TypeScript on a host with Node.js 20 is refused with the version and what to do", async () => {
  const [old, current] = [nodeOf("20"), nodeOf("24")];
  if (old === undefined || current === undefined) return expect(process.env["VICEROY_PEERS"]).not.toBe("required");
  const main = `import { attachHosts } from "viceroy";
import "../generated/registry.ts";
import { MemoryCounter } from "./memory-counter.ts";
await using hosts = attachHosts([process.argv[2]!]);
const procs = hosts.spawnProcs({ gpus: 1 });
await procs.spawn("counters", MemoryCounter, 3).value.call().catch((error) => console.log(error.message));
process.exit();
`;
  write(path.join(project, "src/hosts.ts"), main);
  const args = [path.join(root, "dist/cli/viceroy.js"), "host", "--listen", "tcp://127.0.0.1:0"];
  const host = spawn(old, args, { cwd: project, stdio: ["ignore", "pipe", "pipe"] });
  try {
    const address = await new Promise<string>((resolve, reject) => {
      let text = "";
      const read = (bytes: Buffer) => {
        text += bytes.toString();
        const found = /tcp:\/\/127\.0\.0\.1:[1-9]\d*/.exec(text);
        if (found !== null) resolve(found[0]);
      };
      host.stdout.on("data", read);
      host.stderr.on("data", read);
      host.once("exit", () => reject(new Error(`the host has ended and printed ${text}`)));
    });
    const { stdout, stderr } = await run(current, ["src/hosts.ts", address], project);
    expect(stdout + stderr).toContain(
      `cannot load the registry file://${project}/generated/registry.ts: Node.js v20.9.0 does not run TypeScript; run ` +
        `all processes with Node.js 22.18 or newer, install tsx, or compile the program, got ${project}/generated/registry.ts`,
    );
  } finally {
    host.kill();
  }
});
