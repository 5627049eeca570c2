/** Tests of the addon: how it is found, which memory it accepts, and that everything works without it. */
import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { thisHost } from "viceroy";
import { RdmaBuffer } from "viceroy/rdma";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isTrusted, locateAddon } from "../../native/addon-location.js";
import { buildAddon } from "../../native/build.js";
import { run } from "../examples/program.js";
import { by, codeOf, expectBytes, hasAddon, loadVaults, patternOf, type Vaults } from "./vaults.js";

const program = fileURLToPath(new URL("programs/without-addon.mjs", import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), "rdma-addon-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let vaults: Vaults;
beforeAll(async () => {
  vaults = await loadVaults();
});

describe("without the addon", () => {
  test("everything works, and one warning tells how to build the addon", async () => {
    const { code, stdout, stderr } = await run(process.execPath, [program], folder, {
      VICEROY_RDMA_ADDON: path.join(folder, "nowhere.node"),
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "2 3\n" });
    expect(stderr.match(/one-sided memory needs the addon/g)).toHaveLength(1);
    expect(stderr).toContain(
      `one-sided memory needs the addon, and it has not been built: there is no ${folder}/nowhere.node. Until then, bytes of ` +
        "RdmaBuffers go through the event loop of their owner (transport `stream`). Run `npx viceroy setup --rdma` to build it",
    );
  });

  test("no warning is printed if the addon is switched off", async () => {
    const { stdout, stderr } = await run(process.execPath, [program], folder, { VICEROY_RDMA_ADDON: "off" });
    expect({ stdout, stderr }).toEqual({ stdout: "2 3\n", stderr: "" });
  });

  test("a file that is not an addon is reported", async () => {
    const file = path.join(folder, "text.node");
    writeFileSync(file, "no addon");
    const { code, stderr } = await run(process.execPath, [program], folder, { VICEROY_RDMA_ADDON: file });
    expect(code).toBe(0);
    expect(stderr).toContain("one-sided memory needs the addon, and it cannot be loaded: ");
  });

  test("the transport stream works between processes with and without the addon", async () => {
    await using procs = thisHost().spawnProcs({ n: 1 }, { env: { VICEROY_RDMA_ADDON: "off" } });
    const vault = procs.spawn("vault", vaults.IronVault);
    const remote = await vault.make.callOne(true, 1000, "r");
    const bytes = new Uint8Array(1000);
    await remote.readInto(bytes);
    expect(remote).toMatchObject({ transport: "stream", oneSided: false });
    expectBytes(bytes, patternOf(vaults, 0, 1000));
    await using own = RdmaBuffer.register(new Uint8Array(10).fill(4));
    expect(await vault.read.callOne(own, "stream", 10)).toEqual({
      bytes: new Uint8Array(10).fill(4),
      transport: "stream",
    });
    const { code, message } = await vault.read.callOne(own, "vm", 10);
    expect(code).toBe("ERR_RDMA_UNREACHABLE");
    expect(message).toContain("cannot reach the memory of an RdmaBuffer: vm: there is no addon");
  });
});

test("an addon that another user could have written is not loaded", () => {
  const file = path.join(folder, "open.node");
  writeFileSync(file, "");
  chmodSync(file, 0o600);
  expect(isTrusted(file)).toBe(true);
  chmodSync(file, 0o666);
  expect(isTrusted(file)).toBe(false);
});

test("a missing compiler is reported with the package to install, and the messages of a compiler are passed on", async () => {
  const file = path.join(folder, "built.node");
  await expect(buildAddon("rdma", { compiler: "no-such-compiler", file })).rejects.toThrow(
    /^cannot build the addon: cannot run no-such-compiler, .*: install g\+\+ \(package g\+\+ of Debian\), or set CXX to another compiler$/,
  );
  await expect(buildAddon("rdma", { compiler: "false", file })).rejects.toThrow(
    "cannot build the addon: false ended with code 1",
  );
  expect(readdirSync(folder).filter((name) => name.startsWith(".build") || name === "built.node")).toEqual([]);
});

test("the package contains the sources of the addon", () => {
  const { files } = locateAddon("rdma");
  for (const file of files) expect(readFileSync(file, "utf8").split("\n").length, file).toBeLessThan(250);
});

describe.skipIf(!hasAddon)("with the addon", () => {
  test("memory is reported to V8, and freed when it is dropped", async () => {
    const before = process.memoryUsage().external;
    const buffer = RdmaBuffer.allocate(32 << 20);
    expect(process.memoryUsage().external - before).toBeGreaterThan(31 << 20);
    const { view } = buffer;
    await buffer.drop();
    expect(view.length).toBe(0);
    expect(() => buffer.view).toThrow("cannot view: the buffer was dropped here");
    expect(openMemory()).toBe(1);
  });

  test("a path without a folder counts from the working directory", async () => {
    copyFileSync(locateAddon("rdma").file, path.join(folder, "copied.node"));
    const { stdout, stderr } = await run(process.execPath, [program], folder, { VICEROY_RDMA_ADDON: "copied.node" });
    expect({ stdout, stderr }).toEqual({ stdout: "2 3\n", stderr: "" });
  });

  test("child programs do not inherit the descriptors of memory", async () => {
    await using buffer = RdmaBuffer.allocate(4096);
    expect(buffer.view.length).toBe(4096);
    expect(openMemory()).toBeGreaterThan(1);
    const inherited = await run("/bin/sh", ["-c", "ls -l /proc/self/fd"], folder);
    expect(inherited.stdout).not.toContain("memfd");
  });

  test("each thread has its own memory, which ends with the thread", async () => {
    const procs = thisHost().spawnProcs({ n: 1 }, { isolation: "thread" });
    const vault = procs.spawn("vault", vaults.IronVault);
    const remote = await by("vm", await vault.make.callOne(false, 100_000, "rw"));
    const bytes = new Uint8Array(100_000);
    await remote.readInto(bytes);
    expectBytes(bytes, patternOf(vaults, 0, 100_000));
    await procs.stop();
    expect(await codeOf(remote.readInto(bytes))).toMatch(/^ERR_RDMA_(DROPPED|FORGED|PEER_GONE)$/);
  });

  test("the owner gets an error when registered memory was transferred away", async () => {
    const memory = new ArrayBuffer(100);
    const buffer = RdmaBuffer.register(new Uint8Array(memory));
    structuredClone(memory, { transfer: [memory] });
    await expect(buffer.readInto(new Uint8Array(1))).rejects.toThrow(
      "cannot use the memory of an RdmaBuffer: its ArrayBuffer was detached, although it is registered",
    );
    await buffer.drop();
  });

  test("resizable memory cannot be registered", () => {
    const resizable = Reflect.construct(ArrayBuffer, [8, { maxByteLength: 16 }]) as ArrayBuffer;
    expect(() => RdmaBuffer.register(new Uint8Array(resizable))).toThrow("a resizable ArrayBuffer can give it back");
    expect(() => RdmaBuffer.register(new Uint8Array(0))).toThrow("cannot register memory: it has no bytes");
    expect(() => RdmaBuffer.allocate(-1)).toThrow("expected a number of bytes above 0, got -1");
    expect(() => RdmaBuffer.allocate(2 ** 50)).toThrow(/^cannot allocate 1125899906842624 bytes: /);
  });
});

/** Returns the open descriptors of registered memory of this process. */
function openMemory(): number {
  return readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith("/memfd:viceroy");
    } catch {
      return false;
    }
  }).length;
}
