/** Tests of shared memory between processes, when a peer is stopped, killed or a thread, and of VICEROY_LINKS. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Pipe } from "../../../../runtime/link/transport/pipe.js";
import { RING_BYTES, usesSharedMemory } from "../../../../runtime/link/transport/shared-memory/pipe.js";
import { LINKS_VARIABLE } from "../../../../runtime/link/transport/shared-memory/select-addon.js";
import { childPipe, listenUnix } from "../../../../runtime/link/transport/unix/connect.js";
import { rdmaAddonState } from "../../../../runtime/native/rdma-addon.js";
import { stopped, until } from "../../../proc/until.js";
import { onMemory } from "../../pipe-pair.js";
import { ByteRecorder, soon } from "../byte-recorder.js";

// The folder lies inside the repository, because built code looks for the addon's sources in its parent folders.
const scratch = fileURLToPath(new URL("../../../../.viceroy/", import.meta.url));
mkdirSync(scratch, { recursive: true });
const folder = onMemory ? mkdtempSync(path.join(scratch, "test-shared-")) : "";
let child: ChildProcess;

async function bundle(name: string): Promise<string> {
  const entry = fileURLToPath(new URL(`${name}.ts`, import.meta.url));
  const outfile = path.join(folder, `${name}.mjs`);
  await build({ entryPoints: [entry], outfile, bundle: true, platform: "node", format: "esm" });
  return outfile;
}

describe.skipIf(!onMemory)("shared memory", () => {
  let echo: string;
  let thread: string;

  beforeAll(async () => {
    [echo, thread] = await Promise.all([bundle("echo-process"), bundle("echo-thread")]);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  afterEach(() => child?.kill("SIGKILL"));

  async function started(): Promise<{ pipe: Pipe; heard: ByteRecorder }> {
    child = spawn(process.execPath, [echo], { stdio: ["ignore", "pipe", "inherit", "pipe"] });
    const pipe = childPipe(child.stdio[3] as Socket);
    const heard = new ByteRecorder(pipe);
    await heard.bytes(2);
    expect(usesSharedMemory(pipe)).toBe(true);
    return { pipe, heard };
  }

  test("writes to a stopped process wait and keep the pipe open, and arrive when the process continues", async () => {
    const { pipe, heard } = await started();
    let ended = false;
    void heard.end.then(() => {
      ended = true;
    });
    child.kill("SIGSTOP");
    await until(() => stopped(child.pid!));
    let done = 0;
    const block = Buffer.alloc(RING_BYTES / 2, 1);
    for (let i = 0; i < 4; i++) pipe.write([block], () => done++);
    await until(() => done === 2);
    await soon(500);
    expect(done).toBe(2);
    expect(ended).toBe(false);
    child.kill("SIGCONT");
    await heard.bytes(2 + 4 * block.length);
    expect(done).toBe(4);
    expect(ended).toBe(false);
  });

  test("the kill of the peer process ends the pipe and completes all pending writes", async () => {
    const { pipe, heard } = await started();
    pipe.write([Buffer.alloc(100_000, 1)], () => {});
    await heard.bytes(100_002);
    let done = 0;
    child.kill("SIGKILL");
    for (let i = 0; i < 8; i++) pipe.write([Buffer.alloc(RING_BYTES)], () => done++);
    await heard.end;
    await until(() => done === 8);
    expect(heard.all.subarray(2, 100_002).every((byte) => byte === 1)).toBe(true);
  });

  test("a peer receives all bytes that this side wrote before its close", async () => {
    const { pipe } = await started();
    pipe.write([Buffer.alloc(3_000_000)], () => {});
    pipe.close();
    let said = "";
    for await (const data of child.stdout!) said += data;
    expect(said).toBe("3000000\n");
  });

  test("a peer can be a thread, and the termination of the thread during a transfer ends the pipe", async () => {
    const place = mkdtempSync(path.join(tmpdir(), "viceroy-thread-"));
    const taken: Pipe[] = [];
    let next: (pipe: Pipe) => void = () => {};
    const server = await listenUnix(path.join(place, "s"), (pipe) => {
      taken.push(pipe);
      next(pipe);
    });
    for (let i = 0; i < 5; i++) {
      const accepted = new Promise<Pipe>((resolve) => {
        next = resolve;
      });
      const worker = new Worker(thread, { workerData: path.join(place, "s") });
      const pipe = await accepted;
      const heard = new ByteRecorder(pipe);
      await heard.bytes(2);
      expect(usesSharedMemory(pipe)).toBe(true);
      pipe.write([Buffer.alloc(50_000)], () => {});
      await heard.bytes(50_002);
      pipe.write([Buffer.alloc(1_000_000)], () => {});
      await worker.terminate();
      await heard.end;
    }
    server.close();
    rmSync(place, { recursive: true });
  });
});

describe("the variable VICEROY_LINKS", () => {
  async function chosen(env: Record<string, string>): Promise<string> {
    const script = `
      import { describeLinkTransport, sharedMemoryAddon } from ${JSON.stringify(new URL("../../../../runtime/link/transport/shared-memory/select-addon.ts", import.meta.url).href)};
      try { console.log(sharedMemoryAddon() !== undefined, describeLinkTransport()); } catch (error) { console.log(error.message); }`;
    const args = ["--import", "tsx", "--input-type=module", "-e", script];
    const run = spawn(process.execPath, args, {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    for await (const data of run.stdout) said += data;
    return said.trim();
  }
  const off = { VICEROY_RDMA_ADDON: "off" };

  test("switches shared memory off with the value `socket`", async () => {
    expect(await chosen({ [LINKS_VARIABLE]: "socket" })).toBe('false Unix sockets (VICEROY_LINKS is "socket")');
  });

  test("selects sockets if the addon is absent, and causes an error then with the value `memory`", async () => {
    expect(await chosen({ ...off, [LINKS_VARIABLE]: "" })).toBe(
      'false Unix sockets: shared memory needs the addon, and VICEROY_RDMA_ADDON is "off"',
    );
    expect(await chosen({ ...off, [LINKS_VARIABLE]: "memory" })).toBe(
      "cannot link processes by shared memory, as VICEROY_LINKS asks: that needs the addon, and VICEROY_RDMA_ADDON is " +
        '"off"; run `npx viceroy setup --rdma` to build it',
    );
  });

  test.skipIf(rdmaAddonState().addon === undefined)("selects shared memory by default with the addon", async () => {
    expect(await chosen({ [LINKS_VARIABLE]: "" })).toBe("true shared memory, beside Unix sockets");
  });

  test("causes an error that lists the valid values if its value is unknown", async () => {
    expect(await chosen({ [LINKS_VARIABLE]: "fast" })).toBe(
      'cannot use VICEROY_LINKS: expected "socket", "memory" or nothing, got "fast"',
    );
  });
});
