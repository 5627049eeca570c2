/** Tests that actors on attached hosts restart from checkpoints, whose large states cross the links to the hosts. */
import { beforeAll, expect, test } from "vitest";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { until } from "../proc/until.js";
import { loadVaults, type Vaults } from "../supervise/vault.js";
import { attachPatiently } from "./attach-patiently.js";
import { startHost } from "./start-host.js";

const size = 4 * 1024 * 1024;
const faults = collectUnhandledFaults();
let { DeepVault } = {} as Vaults;
beforeAll(async () => {
  ({ DeepVault } = await loadVaults());
});

test("a process on each host that is killed by SIGKILL restarts with the state of its last checkpoint", async () => {
  const [one, two] = await Promise.all([startHost(), startHost("tcp://127.0.0.1:0")]);
  await using hosts = attachPatiently([one.address, two.address]);
  const procs = hosts.spawnProcs();
  const restart = { from: "checkpoint", backoff: 10 } as const;
  const vaults = procs.with({ restart }).spawn("vaults", DeepVault);
  await vaults.fill.call(size);
  await vaults.slice({ hosts: 1 }).add.callOne(3);
  await vaults.checkpoint();
  await vaults.add.call(1);
  const before = [...(await vaults.life.call()).values()];
  for (const { pid } of before) process.kill(pid, "SIGKILL");
  await until(async () => {
    const lives = await vaults.life.call().catch(() => undefined);
    return lives !== undefined && [...lives.values()].every(({ pid }, rank) => pid !== before[rank]!.pid);
  });
  expect([...(await vaults.life.call()).values()].map(({ sum }) => sum)).toEqual([0, 3]);
  expect([...(await vaults.filled.call()).values()]).toEqual([size, size]);
  expect(faults).toEqual([]);
});
