/**
 * A program for another Node.js than the one of the tests, which has another processor or another C library. It calls
 * two processes, and reads and writes memory of one of them. Its processes are started by the program that
 * TEST_NODE names, because the kernel cannot start the other Node.js itself.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { installInto, write } from "../../examples/project.js";
import { root, succeed } from "../packed.js";

const schema = `import type { Actor, RdmaBuffer, Uint32 } from "viceroy/schema";

export interface Store extends Actor {
  echo(text: string): string;
  allocate(bytes: Uint32): RdmaBuffer;
  sum(): Uint32;
}
`;

const actor = `import { RdmaBuffer } from "viceroy/rdma";
import { StoreActor } from "../generated/store.js";

export class MemoryStore extends StoreActor {
  #memory: RdmaBuffer | undefined;

  echo(text: string) {
    return text;
  }
  allocate(bytes: number) {
    this.#memory = RdmaBuffer.allocate(bytes);
    this.#memory.view.fill(1);
    return this.#memory.grant({ access: "rw" });
  }
  sum() {
    return this.#memory!.view.reduce((sum, byte) => sum + byte, 0);
  }
}
`;

const starter = `process.execPath = process.env["TEST_NODE"] ?? process.execPath;
`;

const main = `import "./starter.js";
import { readFileSync } from "node:fs";
import { thisHost } from "viceroy";
import "../generated/registry.js";
import { MemoryStore } from "./memory-store.js";

const bytes = 1_000_000;
await using procs = thisHost().spawnProcs({ gpus: 2 });
const stores = procs.spawn("stores", MemoryStore);
// The texts of all calls together exceed the size of a ring several times.
const texts = Array.from({ length: 60 }, (_, i) => String.fromCharCode(97 + (i % 26)).repeat((i * 7919) % 200_000));
const echoed = await Promise.all(texts.map((text) => stores.echo.call(text)));
const memory = await stores.slice({ gpus: 0 }).allocate.callOne(bytes);
const local = new Uint8Array(bytes);
await memory.readInto(local);
const read = local.reduce((sum, byte) => sum + byte, 0);
await memory.writeFrom(local.fill(2));
console.log(
  JSON.stringify({
    arch: process.arch,
    echoed: echoed.filter((answers, i) => [...answers.values()].every((text) => text === texts[i])).length,
    sharedLinks: readFileSync("/proc/self/maps", "utf8").includes("memfd:viceroy-link"),
    transport: memory.transport,
    read,
    written: await stores.slice({ gpus: 0 }).sum.callOne(),
  }),
);
await memory.drop();
`;

/** What the program prints. */
export interface Printed {
  readonly arch: string;
  /** The number of calls whose answers were right. */
  readonly echoed: number;
  readonly sharedLinks: boolean;
  readonly transport: string;
  readonly read: number;
  readonly written: number;
}

/** The result of a run whose calls and transfers were all right. */
export const right = { echoed: 60, read: 1_000_000, written: 2_000_000 } as const;

/**
 * Compiles the program with this Node.js.
 * @param folder a folder that exists
 * @returns the folder of the JavaScript, which contains src/main.js
 */
export function buildProgram(folder: string): string {
  const stage = path.join(folder, "stage");
  mkdirSync(stage);
  installInto(stage);
  const cli = path.join(root, "dist/cli/viceroy.js");
  succeed(process.execPath, [cli, "init"], stage);
  write(path.join(stage, "schemas/store.ts"), schema);
  write(path.join(stage, "src/memory-store.ts"), actor);
  write(path.join(stage, "src/starter.ts"), starter);
  writeFileSync(path.join(stage, "src/main.ts"), main);
  succeed(process.execPath, [cli, "compile"], stage);
  succeed(process.execPath, [path.join(root, "node_modules/typescript/bin/tsc"), "-p", "."], stage);
  return path.join(stage, "build");
}

/** Returns the versions of the libraries that a built addon needs, such as `GLIBC_2.17`: the newest of each library. */
export function newestVersions(file: string): Readonly<Record<string, string>> {
  const newest: Record<string, string> = {};
  for (const [, library = "", version = ""] of readFileSync(file, "latin1").matchAll(
    /\0(GLIBC|GLIBCXX|CXXABI)_(\d[\d.]*)(?=\0)/g,
  )) {
    if (compare(version, newest[library] ?? "0") > 0) newest[library] = version;
  }
  return newest;
}

function compare(left: string, right: string): number {
  return left.localeCompare(right, "en", { numeric: true });
}
