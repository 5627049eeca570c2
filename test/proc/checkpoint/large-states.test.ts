/**
 * Checkpoints whose states do not fit into a message, between real processes that are killed. The tests run with shared memory
 * and without.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CheckpointError, fileStore, thisHost } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import { rdmaAddonState } from "../../../runtime/native/rdma-addon.js";
import { emptyDirectory, loadVaults, type Vaults } from "../../supervise/vault.js";
import { collectUnhandledFaults } from "../unhandled-faults.js";
import { gone, until } from "../until.js";

const MiB = 1024 * 1024;
/** More than one message has, and more than one part of a state. */
const large = 300 * MiB;
/** More than a checkpoint contains in its message. */
const apart = 2 * MiB;
const restart = { from: "checkpoint", backoff: 10 } as const;
const faults = collectUnhandledFaults();
let { DeepVault } = {} as Vaults;

beforeAll(async () => {
  ({ DeepVault } = await loadVaults());
});

/** The number of files in memory for states and buffers that a process has open. */
function memoryFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`) === "/memfd:viceroy (deleted)";
    } catch {
      return false;
    }
  }).length;
}

test("a state that is larger than a message is saved, and restored after SIGKILL", async () => {
  await using procs = thisHost().spawnProcs();
  const vault = procs.with({ restart }).spawn("vault", DeepVault);
  await vault.fill.callOne(large);
  await vault.add.callOne(1);
  await vault.checkpoint();
  const { pid } = await vault.life.callOne();
  process.kill(pid, "SIGKILL");
  await until(async () => {
    const life = await vault.life.callOne().catch(() => undefined);
    return life !== undefined && life.pid !== pid;
  });
  expect(await vault.filled.callOne()).toBe(large);
  expect((await vault.life.callOne()).sum).toBe(1);
  expect(faults).toEqual([]);
});

test("a last state that is apart from its message is stored when the mesh is stopped, and a later mesh begins with it", async () => {
  const store = fileStore(emptyDirectory());
  for (const expected of [0, apart]) {
    await using procs = thisHost().spawnProcs();
    const vault = procs.with({ restart: { ...restart, store } }).spawn("vault", DeepVault);
    expect(await vault.filled.callOne()).toBe(expected);
    await vault.fill.callOne(apart);
    await vault.stop();
  }
  const { state } = (await store.read({ mesh: "vault", rank: 0 }))!;
  expect(state.length).toBeGreaterThan(apart);
});

/** What the other side uses for its links, if the addon is present. */
const otherLinks = process.env["VICEROY_LINKS"] === "memory" ? "socket" : "memory";

test.runIf(rdmaAddonState().addon !== undefined)(
  "where only one of both processes can share memory, a large state is read in parts, in both directions",
  async () => {
    await using procs = thisHost().spawnProcs({}, { env: { VICEROY_LINKS: otherLinks } });
    const vault = procs.with({ restart }).spawn("vault", DeepVault);
    await vault.fill.callOne(4 * MiB);
    await vault.checkpoint();
    vault.blow.broadcast("restart");
    await until(async () => (await vault.life.callOne().catch(() => undefined))?.incarnation === 1);
    expect(await vault.filled.callOne()).toBe(4 * MiB);
  },
);

test.each(["thread", "inline"] as const)("an actor of isolation %s has large states, too", async (isolation) => {
  await using procs = thisHost().spawnProcs({}, { isolation });
  const vault = procs.with({ restart }).spawn("vault", DeepVault);
  await vault.fill.callOne(4 * MiB);
  await vault.checkpoint();
  vault.blow.broadcast("restart");
  await until(async () => (await vault.life.callOne().catch(() => undefined))?.incarnation === 1);
  expect(await vault.filled.callOne()).toBe(4 * MiB);
  await until(() => memoryFiles(process.pid) === 0);
});

test("after checkpoints and restarts, neither process holds their memory any more", async () => {
  await using procs = thisHost().spawnProcs();
  const vault = procs.with({ restart }).spawn("vault", DeepVault);
  await vault.fill.callOne(4 * MiB);
  const { pid } = await vault.life.callOne();
  for (let i = 0; i < 20; i++) await vault.checkpoint();
  // The last offer ends with a message.
  await until(() => memoryFiles(pid) === 0);
  vault.blow.broadcast("restart");
  await until(async () => (await vault.filled.callOne().catch(() => 0)) === 4 * MiB);
  await until(() => memoryFiles(process.pid) === 0);
  expect(memoryFiles(pid)).toBe(0);
});

test("a process that is killed by SIGKILL in the middle of a save leaves the checkpoint before, in whole", async () => {
  await using procs = thisHost().spawnProcs();
  const vault = procs.with({ restart: { ...restart, maxRestarts: 100 } }).spawn("vault", DeepVault);
  await vault.fill.callOne(64 * MiB);
  await vault.checkpoint();
  for (const delay of [0, 5, 20, 40, 80]) {
    const before = await vault.life.callOne();
    await vault.add.callOne(1);
    const saved = vault.checkpoint().then(
      () => true,
      (error: unknown) => {
        expect(error).toBeInstanceOf(CheckpointError);
        return false;
      },
    );
    setTimeout(() => process.kill(before.pid, "SIGKILL"), delay);
    const isSaved = await saved;
    await until(async () => {
      const life = await vault.life.callOne().catch(() => undefined);
      return life !== undefined && life.pid !== before.pid;
    });
    expect((await vault.life.callOne()).sum).toBe(before.sum + (isSaved ? 1 : 0));
    expect(await vault.filled.callOne()).toBe(64 * MiB);
  }
  expect(faults).toEqual([]);
});

test("an owner that is killed by SIGKILL while it takes checkpoints leaves no process and no file in memory", async () => {
  const names = new Set(readdirSync("/dev/shm"));
  const program = fileURLToPath(new URL("vault-owner.ts", import.meta.url));
  const owner = spawn(process.execPath, ["--import", "tsx", program], { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  owner.stdout.on("data", (text) => (printed += String(text)));
  await until(() => /taken 3\n/.test(printed));
  const actor = Number(/actor (\d+)\n/.exec(printed)![1]);
  owner.kill("SIGKILL");
  await once(owner, "exit");
  // Files in memory have no name, and end with the last process that has them open or mapped.
  await until(() => gone(actor));
  expect(readdirSync("/dev/shm").filter((name) => !names.has(name) && name.includes("viceroy"))).toEqual([]);
});
