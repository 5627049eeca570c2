/** Tests of calls between real processes over Unix sockets, which are inherited or dialled. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { setMainRoot } from "../../../../runtime/actor/context.js";
import { SupervisionError } from "../../../../runtime/actor/errors.js";
import { wholeMesh } from "../../../../runtime/actor/mesh/actor-mesh.js";
import { currentMeshRecord } from "../../../../runtime/actor/mesh/current-mesh-record.js";
import { actorHandleCodecs } from "../../../../runtime/actor/mesh/handle-codecs.js";
import { Proc } from "../../../../runtime/actor/proc/proc.js";
import { systemClock, systemRandom } from "../../../../runtime/link/clock.js";
import { childPipe, connectUnix, listenUnix } from "../../../../runtime/link/transport/unix/connect.js";
import { setWireEnvironment } from "../../../../runtime/wire/wire-environment.js";
import { type CounterMesh, counterDescriptor } from "../../../actor/counter.js";
import { cases } from "../../../profile.js";

const fixture = fileURLToPath(new URL("../../fixtures/counter-process.ts", import.meta.url));

let folder: string;
let proc: Proc;
let child: ChildProcess | undefined;
/** Resolves with a description of how the child has ended. */
let childEnded: Promise<string>;
let lost: string[];

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "viceroy-link-"));
  lost = [];
  setWireEnvironment(actorHandleCodecs);
  proc = new Proc({
    id: 10n,
    universe: 5n,
    clock: systemClock,
    random: systemRandom,
    hooks: {
      actorStarted() {},
      actorFailed() {},
      cleanupFailed() {},
      handlerSlow() {},
      stopOwned: async () => {},
      storeLastState: async () => {},
      lastStateLost() {},
      callsSpent() {},
      meshOrdered: async () => true,
      targetDown() {},
      peerLost: () => childEnded,
      peerDown: (_peer, reason) => lost.push(reason),
      undeliverable() {},
    },
    connect: (location) => connectUnix(location),
  });
  setMainRoot(proc.root);
});
afterEach(() => {
  proc.close("the test has ended");
  setMainRoot(undefined);
  child?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

function counterAt(location: string): CounterMesh<never> {
  const record = currentMeshRecord({ id: 99n, name: "counter", owner: 10n, extent: {} });
  record.setLocation(0, { proc: 11n, location });
  return wholeMesh(record, counterDescriptor) as unknown as CounterMesh<never>;
}

/** Records the end of a child from its start, because this end may be known before the end of the link. */
function watched(child: ChildProcess): void {
  childEnded = new Promise((resolve) => child.once("exit", (code, signal) => resolve(`it ended: ${signal ?? code}`)));
}

/** Starts the counter in a child process, on a socket that the child inherits. */
function inherited(env: Record<string, string> = {}): CounterMesh<never> {
  child = spawn(process.execPath, ["--import", "tsx", fixture], {
    stdio: ["ignore", "inherit", "inherit", "pipe"],
    env: { ...process.env, ...env },
  });
  watched(child);
  proc.attach(childPipe(child.stdio[3] as Socket), 11n);
  return counterAt("");
}

describe("a child process on an inherited socket", () => {
  test("handles messages that were sent before it was ready, in order", async () => {
    const counter = inherited();
    for (let i = 0; i < 1000; i++) counter.increment.broadcast(1);
    expect(await counter.value.callOne()).toBe(1000);
  });

  test("receives and returns several large byte arrays at the same time", async () => {
    const counter = inherited();
    const blocks = [3_000_000, 40_000, 5, 0, 1_000_001].map((size) => new Uint8Array(size).map((_, i) => i * 13));
    const back = await Promise.all(blocks.map((block) => counter.bytes.callOne(block)));
    for (const [i, block] of blocks.entries()) {
      expect(Buffer.compare(back[i]!, block)).toBe(0);
      expect(back[i]!.constructor).toBe(Uint8Array);
    }
  });

  test("ends a stream when the consumer stops reading it", async () => {
    const counter = inherited();
    let sum = 0;
    for await (const [, n] of counter.endless.stream()) {
      sum += n;
      if (n === 2000) break;
    }
    expect(sum).toBe(2_001_000);
    expect(await counter.streamEnded.callOne()).toBe(true);
  });

  test("that is killed makes pending calls fail with an error that says how it ended", async () => {
    const counter = inherited();
    await counter.value.callOne();
    const pending = counter.sleep.callOne(60_000).then(undefined, (e) => e);
    child!.kill("SIGKILL");
    const error = await pending;
    expect(error).toBeInstanceOf(SupervisionError);
    expect(error.message).toBe("cannot call counter.sleep on rank 0: it ended: SIGKILL");
    expect(lost).toEqual(["it ended: SIGKILL"]);
  });

  test("detects the loss of the connection to its parent and exits", async () => {
    inherited();
    await counterAt("").value.callOne();
    const exited = new Promise((resolve) => child!.once("exit", resolve));
    (child!.stdio[3] as Socket).destroy();
    expect(await exited).toBe(9);
  });
});

describe("a process that listens at a Unix socket", () => {
  async function listening(): Promise<CounterMesh<never>> {
    const address = path.join(folder, "counter.sock");
    child = spawn(process.execPath, ["--import", "tsx", fixture, address], { stdio: ["ignore", "pipe", "inherit"] });
    watched(child);
    await new Promise((resolve) => child!.stdout!.once("data", resolve));
    return counterAt(address);
  }

  test("is dialled on the first message, and messages that are sent during the dial keep their order", async () => {
    const counter = await listening();
    for (let i = 0; i < 100; i++) counter.note.broadcast(`${i}`, 0);
    expect((await counter.log.callOne()).slice(1)).toEqual(
      Array.from({ length: 100 }, (_, i) => [`+${i}`, `-${i}`]).flat(),
    );
  });

  test("receives many small and large messages at the same time without loss", async () => {
    const counter = await listening();
    const block = new Uint8Array(200_000).fill(7);
    const calls = [];
    for (let i = 0; i < 40; i++) {
      calls.push(counter.bytes.callOne(block));
      for (let k = 0; k < 50; k++) counter.increment.broadcast(1);
    }
    for (const back of await Promise.all(calls)) expect(back.length).toBe(block.length);
    expect(await counter.value.callOne()).toBe(2000);
  });
});

/** Resident memory of a process in MiB. */
function resident(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

test.runIf(existsSync("/proc/self/status"))(
  "the memory of both processes stays bounded while a sender awaits each message to a slow actor",
  async () => {
    const messages = cases(100_000, 10_000_000);
    const counter = inherited({ SLOW: "1" });
    const pids = [process.pid, child!.pid!];
    const flood = async (from: number, to: number): Promise<void> => {
      for (let i = from; i < to; i++) await counter.increment.broadcast(1);
    };
    // The heaps have reached their size after this part. The next part is four times as long, so a leak would show.
    await flood(0, messages / 5);
    const before = pids.map(resident);
    await flood(messages / 5, messages);
    const after = pids.map(resident);
    expect(await counter.value.callOne()).toBe(messages);
    for (const [i, mib] of after.entries()) expect(mib - before[i]!).toBeLessThan(64);
  },
  cases(300_000, 1_800_000),
);

test("calls to a path without a listener fail, and a listener can use the path later", async () => {
  const address = path.join(folder, "later.sock");
  const counter = counterAt(address);
  const error = await counter.value.callOne().then(undefined, (e) => e);
  expect(error.message).toBe("cannot call counter.value on rank 0: its process cannot be reached");
  const server = await listenUnix(address, (pipe) => pipe.destroy());
  expect((await counter.value.callOne().then(undefined, (e) => e)).message).toMatch(/its process cannot be reached/);
  server.close();
});
