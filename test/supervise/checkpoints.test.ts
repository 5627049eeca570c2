/** Actors that are restarted from checkpoints, over real processes that are killed. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Checkpoint, CheckpointError, type CheckpointStore, fileStore, thisHost, thisProc } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import type { VaultLife, VaultMesh } from "../fixtures/vault/generated/vault.js";
import { compileProject } from "../proc/crew.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { until } from "../proc/until.js";
import { emptyDirectory, loadVaults, type Vaults } from "./vault.js";

let { DeepVault, LeakyVault, SteelSafe, OakShelf } = {} as Vaults;
const faults = collectUnhandledFaults();
const restart = { from: "checkpoint", backoff: 10 } as const;

beforeAll(async () => {
  ({ DeepVault, LeakyVault, SteelSafe, OakShelf } = await loadVaults());
});

/** Waits until an actor has the given incarnation. */
async function lives(vault: VaultMesh<never>, incarnation: number): Promise<VaultLife> {
  let life: VaultLife | undefined;
  await until(async () => {
    life = await vault.life.callOne().catch(() => undefined);
    return life?.incarnation === incarnation;
  });
  return life!;
}

async function failure(promise: PromiseLike<unknown>): Promise<Error> {
  return promise.then(
    (value) => new Error(`resolved with ${String(value)}`),
    (error) => error as Error,
  );
}

/** A store in memory that counts its calls and can be told to fail. */
class TestStore implements CheckpointStore {
  readonly checkpoints = new Map<string, Checkpoint>();
  readonly calls: string[] = [];
  failing: Error | undefined;

  async write({ mesh, rank }: { mesh: string; rank: number }, checkpoint: Checkpoint): Promise<void> {
    this.calls.push(`write ${mesh}[${rank}]`);
    if (this.failing !== undefined) throw this.failing;
    this.checkpoints.set(`${mesh}[${rank}]`, checkpoint);
  }
  async read({ mesh, rank }: { mesh: string; rank: number }): Promise<Checkpoint | undefined> {
    this.calls.push(`read ${mesh}[${rank}]`);
    if (this.failing !== undefined) throw this.failing;
    return this.checkpoints.get(`${mesh}[${rank}]`);
  }
  async delete(): Promise<void> {}
}

test("a process that is killed by SIGKILL restarts with the states of the last checkpoints, before any message", async () => {
  await using procs = thisHost().spawnProcs({ gpus: 2 });
  const vaults = procs.with({ restart }).spawn("vaults", DeepVault, 100);
  const [first, second] = [vaults.slice({ gpus: 0 }), vaults.slice({ gpus: 1 })];
  await vaults.add.call(5);
  await vaults.checkpoint();
  await vaults.add.call(1);
  const { pid } = await second.life.callOne();
  process.kill(pid, "SIGKILL");
  expect(
    await second.add
      .with({ wait: true })
      .callOne(2)
      .catch(() => second.add.with({ wait: true }).callOne(2)),
  ).toBe(107);
  const life = await lives(second, 1);
  expect(life).toMatchObject({ sum: 107, log: ["constructor", "restore", "init 105"] });
  expect(life.pid).not.toBe(pid);
  expect(await first.add.callOne(0)).toBe(106);
  expect(faults).toEqual([]);
});

test("an actor that fails in a living process restarts with its checkpoint, or fresh if there is none", async () => {
  await using procs = thisHost().spawnProcs();
  const vault = procs.with({ restart }).spawn("vault", DeepVault);
  await vault.add.callOne(3);
  vault.blow.broadcast("no checkpoint yet");
  expect(await lives(vault, 1)).toMatchObject({ sum: 0, log: ["constructor", "init 0"] });
  await vault.add.callOne(4);
  await vault.checkpoint();
  vault.blow.broadcast("once more");
  expect(await lives(vault, 2)).toMatchObject({ sum: 4, log: ["constructor", "restore", "init 4"] });
});

test("checkpoints are taken regularly, and never while a message is handled", async () => {
  await using procs = thisHost().spawnProcs();
  const vault = procs.with({ restart: { ...restart, every: 5 } }).spawn("vault", DeepVault);
  await vault.spoil.callOne("delay");
  for (let i = 0; i < 5; i++) await vault.work.callOne(30);
  await until(async () => (await vault.life.callOne()).log.filter((entry) => entry === "save").length > 3);
  const { log } = await vault.life.callOne();
  for (const [i, entry] of log.entries()) if (entry === "work") expect(log[i + 1]).toBe("worked");
  await vault.add.callOne(9);
  // The second request begins after the first, so its state has the sum.
  await vault.checkpoint();
  vault.blow.broadcast("now");
  expect((await lives(vault, 1)).sum).toBe(9);
});

test("an actor of the own process and one of an inline proc restart from checkpoints, too", async () => {
  const here = thisProc().with({ restart }).spawn("here", DeepVault);
  await using procs = thisHost().spawnProcs({}, { isolation: "inline" });
  const inline = procs.with({ restart }).spawn("inline", DeepVault);
  for (const vault of [here, inline]) {
    await vault.add.callOne(6);
    await vault.checkpoint();
    vault.blow.broadcast("own");
    expect((await lives(vault, 1)).sum).toBe(6);
  }
  await here.stop();
});

test("a save that throws, or returns what no codec takes, rejects the request, and the earlier checkpoint is kept", async () => {
  await using procs = thisHost().spawnProcs({ gpus: 2 });
  const vaults = procs.with({ restart }).spawn("vaults", DeepVault);
  await vaults.add.call(8);
  await vaults.checkpoint();
  await vaults.add.call(1);
  await vaults.spoil.call("throw");
  const error = (await failure(vaults.checkpoint())) as CheckpointError;
  expect(error).toBeInstanceOf(CheckpointError);
  expect(error.message).toBe("cannot checkpoint vaults[0]: save threw: the door is stuck");
  expect([error.mesh, error.rank]).toEqual(["vaults", 0]);
  expect(error.others.map(({ message }) => message)).toEqual([
    "cannot checkpoint vaults[1]: save threw: the door is stuck",
  ]);
  const second = vaults.slice({ gpus: 1 });
  await second.spoil.callOne("garbage");
  expect((await failure(second.checkpoint())).message).toBe(
    'cannot checkpoint vaults[1]: save returned no VaultState: cannot encode VaultState.sum: invalid int32: expected an integer from -2147483648 to 2147483647, got "much"',
  );
  // The actor was not affected.
  expect(await second.add.callOne(0)).toBe(9);
  second.blow.broadcast("enough");
  expect((await lives(second, 1)).sum).toBe(8);
});

test("a save that never ends is given up after 10 s, and the actor goes on with the messages that have waited", async () => {
  await using procs = thisHost().spawnProcs();
  const vault = procs.with({ restart }).spawn("vault", DeepVault);
  await vault.add.callOne(4);
  await vault.checkpoint();
  await vault.spoil.callOne("hang");
  const taken = failure(vault.checkpoint());
  const waiting = vault.add.callOne(1);
  expect((await taken).message).toBe("cannot checkpoint vault[0]: save did not end within 10000 ms");
  expect(await waiting).toBe(5);
  vault.blow.broadcast("restart");
  expect((await lives(vault, 1)).sum).toBe(4);
});

test("a checkpoint of an actor that has ended is refused with the reason", async () => {
  await using procs = thisHost().spawnProcs();
  const vault = procs.with({ restart: { ...restart, policy: "never" } }).spawn("vault", DeepVault);
  const { pid } = await vault.life.callOne();
  process.kill(pid, "SIGKILL");
  await until(() => faults.length > 0);
  expect((await failure(vault.checkpoint())).message).toMatch(
    /^cannot checkpoint vault\[0\]: .*process \d+ was killed by SIGKILL$/,
  );
  await vault.stop();
  expect(() => vault.checkpoint()).toThrow('cannot checkpoint mesh "vault": it was stopped');
});

test("actors without a state or its methods, and meshes without checkpoints, are refused at once", async () => {
  await using procs = thisHost().spawnProcs();
  const durable = procs.with({ restart });
  expect(() => durable.spawn("shelf", OakShelf)).toThrow(
    'cannot spawn "shelf": restart from a checkpoint requires a state, but the interface Shelf has none; declare it as interface Shelf extends Actor<[…], State>',
  );
  expect(() => durable.spawn("leaky", LeakyVault)).toThrow(
    'cannot spawn "leaky": restart from a checkpoint requires the methods save and restore, but class LeakyVault has no restore',
  );
  const plain = procs.spawn("plain", DeepVault);
  expect(() => plain.checkpoint()).toThrow(
    'cannot checkpoint mesh "plain": its actors are restarted without checkpoints; spawn it with the option restart: { from: "checkpoint" }',
  );
});

test("a store that fails rejects the request, and a restart whose checkpoint cannot be read fails by the policy", async () => {
  const store = new TestStore();
  await using procs = thisHost().spawnProcs();
  const vault = procs.with({ restart: { ...restart, maxRestarts: 1, store } }).spawn("vault", DeepVault);
  await vault.checkpoint();
  store.failing = Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  expect((await failure(vault.checkpoint())).message).toBe(
    "cannot checkpoint vault[0]: its store failed: ENOSPC: no space left on device",
  );
  expect(await vault.add.callOne(1)).toBe(1);
  vault.blow.broadcast("gone");
  await until(() => faults.length > 0);
  expect(faults).toMatchObject([{ mesh: "vault", ranks: [0], kind: "spawn" }]);
  expect(faults[0]!.cause.message).toBe("cannot restore vault[0]: its store failed: ENOSPC: no space left on device");
  expect(store.calls).toContain("read vault[0]");
});

test("a stop in order stores a last checkpoint, and a later mesh of this name begins with it", async () => {
  const store = fileStore(join(emptyDirectory(), "deep", "down"));
  for (const [round, sum] of [2, 4, 6].entries()) {
    await using procs = thisHost().spawnProcs({ gpus: 2 });
    const vaults = procs.with({ restart: { ...restart, store } }).spawn("vaults/../1", DeepVault);
    expect([...(await vaults.add.call(2)).values()]).toEqual([sum, sum]);
    // Processes end with their mesh, or the mesh is stopped on its own.
    if (round === 1) await vaults.stop();
  }
  const here = thisProc().with({ restart: { ...restart, store } });
  await here.spawn("here", DeepVault, 1).stop();
  const again = here.spawn("here", DeepVault, 2);
  expect(await again.add.callOne(0)).toBe(1);
  await again.stop();
  await store.delete({ mesh: "here", rank: 0 });
  expect(await store.read({ mesh: "here", rank: 0 })).toBe(undefined);
  expect(faults).toEqual([]);
});

test("a process that is replaced hands its state over to the new one", async () => {
  await using procs = thisHost().spawnProcs();
  const store = new TestStore();
  const vault = procs.with({ restart: { ...restart, store } }).spawn("vault", DeepVault);
  await vault.add.callOne(11);
  const { pid } = await vault.life.callOne();
  await procs.replace();
  const life = await vault.life.callOne();
  expect(life).toMatchObject({ incarnation: 1, sum: 11, log: ["constructor", "restore", "init 11"] });
  expect(life.pid).not.toBe(pid);
  // The replaced actor has ended after the new one had begun, and its last state is not stored.
  await vault.add.callOne(1);
  await vault.stop();
  expect(store.calls.filter((call) => call.startsWith("write"))).toEqual(["write vault[0]", "write vault[0]"]);
});

test("a process whose actor does not end its message in time is not replaced, because its state cannot be saved", async () => {
  await using procs = thisHost().spawnProcs({}, { name: "vaults" });
  const vault = procs.with({ restart }).spawn("vault", DeepVault);
  await vault.add.callOne(12);
  const busy = failure(vault.work.callOne(10_000));
  expect((await failure(procs.replace({ drain: 300 }))).message).toBe(
    'cannot replace rank 0 of mesh "vaults": cannot checkpoint vault[0]: its state was not stored within 300 ms',
  );
  expect(await vault.ping.callOne()).toBeGreaterThan(0);
  await vault.stop({ drain: 0 });
  await busy;
});

test("a checkpoint that is damaged, of another actor, or refused by restore fails the start with a clear reason", async () => {
  const directory = emptyDirectory();
  const store = fileStore(directory);
  await using procs = thisHost().spawnProcs();
  const durable = procs.with({ restart: { ...restart, policy: "never", store } });
  await durable.spawn("vault", DeepVault, 7).stop();
  const file = join(directory, "vault-0.checkpoint");
  const whole = readFileSync(file);
  const reasonOf = async (mesh: { ready: Promise<void>; stop(): Promise<void> }) => {
    const { message } = await failure(mesh.ready);
    await mesh.stop();
    return message;
  };
  truncateSync(file, whole.length - 5);
  expect(await reasonOf(durable.spawn("vault", DeepVault))).toBe(
    `mesh "vault" is not ready: rank 0 failed: cannot restore vault[0]: its store failed: cannot read checkpoint ${file}: the file is incomplete: expected ${whole.length} bytes, got ${whole.length - 5}`,
  );
  writeFileSync(file, whole);
  expect(await reasonOf(durable.spawn("vault", SteelSafe))).toMatch(
    /^mesh "vault" is not ready: rank 0 failed: cannot restore vault\[0\] from its checkpoint of \S+: it belongs to \S+schemas\/vault#Vault, not to \S+schemas\/vault#Safe$/,
  );
  // The actor that was refused has not replaced the checkpoint by its own.
  expect(readFileSync(file).equals(whole)).toBe(true);
  await durable.spawn("low", DeepVault, -1).stop();
  expect(await reasonOf(durable.spawn("low", DeepVault))).toMatch(
    /cannot restore low\[0\] from its checkpoint of \S+: restore threw: nothing below zero$/,
  );
  expect(faults.length).toBe(3);
});

test("a newer version reads older checkpoints, an older one reads newer ones, and other schemas are refused", async () => {
  const directory = emptyDirectory();
  const store = fileStore(directory);
  await using procs = thisHost().spawnProcs();
  const durable = procs.with({ restart: { ...restart, policy: "never", store } });
  await durable.spawn("vault", DeepVault, 40).stop();
  await durable.spawn("safe", SteelSafe).stop();
  const next = fileURLToPath(new URL("../fixtures/vault-next/", import.meta.url));
  await compileProject(next);
  const program = [process.execPath, "--import", "tsx", join(next, "src/main.ts"), directory] as const;
  const { sum, notes, refused } = JSON.parse(execFileSync(program[0], program.slice(1), { encoding: "utf8" }));
  expect([sum, notes]).toEqual([41, ["counted"]]);
  expect(refused).toMatch(
    /cannot restore safe\[0\] from its checkpoint of \S+: it has another schema of SafeState, which cannot be read \(was: there, is: here\):\n {2}VC\d+ \S+ at \S*SafeState\.code: /,
  );
  const vault = durable.spawn("vault", DeepVault);
  expect(await vault.add.callOne(1)).toBe(42);
});

test("a process that is killed by SIGKILL while it writes leaves the checkpoint before, in whole", async () => {
  const directory = emptyDirectory();
  const writer = fileURLToPath(new URL("checkpoint-writer.ts", import.meta.url));
  const store = fileStore(directory);
  let last = -1;
  for (let i = 0; i < 5; i++) {
    const { stdout } = await new Promise<{ stdout: string }>((resolve, reject) => {
      import("node:child_process").then(({ spawn }) => {
        const child = spawn(process.execPath, ["--import", "tsx", writer, directory, String(last + 1)]);
        let stdout = "";
        child.stderr.on("data", (text) => reject(new Error(String(text))));
        child.stdout.on("data", (text: Buffer) => {
          stdout += text;
          // One checkpoint is stored, and the next one is being written.
          if (/writing \d+\n.*stored \d+\nwriting \d+\n/s.test(stdout)) setTimeout(() => child.kill("SIGKILL"), i * 7);
        });
        child.on("exit", () => resolve({ stdout }));
      }, reject);
    });
    const stored = Number([...stdout.matchAll(/stored (\d+)/g)].at(-1)![1]);
    const { rank, state } = (await store.read({ mesh: "vault", rank: 0 }))!;
    expect(rank).toBe(0);
    // A write whose end the process could not report may have been complete.
    expect(state[0]).toBeGreaterThanOrEqual(stored);
    expect(state.every((byte) => byte === state[0])).toBe(true);
    last = state[0]!;
  }
  // What a killed process has left does not add up.
  expect(readdirSync(directory).length).toBeLessThanOrEqual(2);
  rmSync(directory, { recursive: true });
  mkdirSync(directory);
  expect(await store.read({ mesh: "vault", rank: 0 })).toBe(undefined);
});
