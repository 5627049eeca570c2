/** Meshes with checkpoints that are resized: the ranks that join and leave, and restarts afterwards, with processes that are killed. */
import { fileStore, thisHost } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import { emptyDirectory, loadVaults, type Vaults } from "../../supervise/vault.js";
import { collectUnhandledFaults } from "../unhandled-faults.js";
import { until } from "../until.js";

const restart = { from: "checkpoint", backoff: 10 } as const;
const faults = collectUnhandledFaults();
let { DeepVault } = {} as Vaults;

beforeAll(async () => {
  ({ DeepVault } = await loadVaults());
});

const spawnVaults = (gpus: number, options: object = {}) => {
  const procs = thisHost().spawnProcs({ gpus });
  const vaults = procs.with({ restart: { ...restart, ...options } }).spawn("vaults", DeepVault, 100);
  return { procs, vaults };
};

type Mesh = ReturnType<typeof spawnVaults>["vaults"];

/** Kills the process of each rank by SIGKILL, and returns the sums and the logs of the actors that replace them. */
async function killed(vaults: Mesh): Promise<readonly (readonly [number, string])[]> {
  const before = [...(await vaults.life.call()).values()];
  for (const { pid } of before) process.kill(pid, "SIGKILL");
  const ranks = before.map((_, gpus) => vaults.slice({ gpus }));
  await until(async () => {
    const lives = await Promise.all(ranks.map((rank) => rank.life.callOne().catch(() => undefined)));
    return lives.every((life, rank) => life !== undefined && life.pid !== before[rank]!.pid);
  });
  return [...(await vaults.life.call()).values()].map(({ sum, log }) => [sum, log[1]!]);
}

test("ranks that join are checkpointed with the others, and all of them restart from their own checkpoints", async () => {
  const { procs, vaults } = spawnVaults(2);
  await using _ = procs;
  await vaults.add.call(1);
  await vaults.checkpoint();
  const more = procs.resize({ gpus: 4 });
  const all = more.resizeActors(vaults);
  await all.ready;
  // A rank that joins is new, and has no checkpoint.
  expect([...(await all.add.call(0)).values()]).toEqual([101, 101, 100, 100]);
  await all.slice({ gpus: 3 }).add.callOne(5);
  await all.checkpoint();
  await all.add.call(1);
  expect(await killed(all)).toEqual([101, 101, 100, 105].map((sum) => [sum, "restore"]));
  expect(faults).toEqual([]);
});

test("a rank that joins and has no checkpoint yet restarts with the arguments", async () => {
  const { procs, vaults } = spawnVaults(1);
  await using _ = procs;
  await vaults.add.call(1);
  await vaults.checkpoint();
  const all = procs.resize({ gpus: 2 }).resizeActors(vaults);
  await all.ready;
  await all.add.call(1);
  expect(await killed(all)).toEqual([
    [101, "restore"],
    [100, "init 100"],
  ]);
});

test("the checkpoint of a rank that leaves is released: the rank returns with fresh state", async () => {
  const { procs, vaults } = spawnVaults(2);
  await using _ = procs;
  await vaults.add.call(1);
  await vaults.checkpoint();
  const fewer = procs.resize({ gpus: 1 });
  await fewer.ready;
  const one = fewer.resizeActors(vaults);
  await one.checkpoint();
  const again = fewer.resize({ gpus: 2 }).resizeActors(one);
  await again.ready;
  const lives = [...(await again.life.call()).values()];
  expect(lives.map(({ sum, log }) => [sum, log[1]])).toEqual([
    [101, "init 100"],
    [100, "init 100"],
  ]);
  // The one that has never left still has its checkpoint, and the other one has none.
  expect(await killed(again)).toEqual([
    [101, "restore"],
    [100, "init 100"],
  ]);
  expect(faults).toEqual([]);
});

test("a store of the user keeps the last state of a rank that leaves, and the rank returns with it", async () => {
  const store = fileStore(emptyDirectory());
  const { procs, vaults } = spawnVaults(2, { store });
  await using _ = procs;
  await vaults.add.call(7);
  const fewer = procs.resize({ gpus: 1 });
  await fewer.ready;
  expect((await store.read({ mesh: "vaults", rank: 1 }))?.rank).toBe(1);
  const again = fewer.resize({ gpus: 2 }).resizeActors(vaults);
  await again.ready;
  expect([...(await again.add.call(0)).values()]).toEqual([107, 107]);
});

test("a checkpoint of a rank that leaves in the meantime is refused", async () => {
  const { procs, vaults } = spawnVaults(2);
  await using _ = procs;
  await vaults.spoil.call("delay");
  const taken = vaults.slice({ gpus: 1 }).checkpoint();
  const fewer = procs.resize({ gpus: 1 });
  await expect(Promise.resolve(taken)).rejects.toThrow(
    "cannot checkpoint vaults[1]: the actor has left the mesh, which was resized",
  );
  await fewer.ready;
});

test("regular checkpoints go on for the ranks that stay, and no rank that has left is warned of", async () => {
  const warnings: string[] = [];
  const listen = ({ message }: Error) => void warnings.push(message);
  process.on("warning", listen);
  const { procs, vaults } = spawnVaults(3, { every: 5 });
  await using _ = procs;
  await vaults.add.call(1);
  const fewer = procs.resize({ gpus: 1 });
  await fewer.ready;
  const one = fewer.resizeActors(vaults);
  const saves = async () => (await one.life.callOne()).log.filter((entry) => entry === "save").length;
  const before = await saves();
  await until(async () => (await saves()) > before + 2);
  expect(await killed(one as never)).toEqual([[101, "restore"]]);
  process.off("warning", listen);
  expect(warnings.filter((text) => text.includes("checkpoint"))).toEqual([]);
});
