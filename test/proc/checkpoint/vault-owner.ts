/** Takes checkpoints of a large actor, one after another, until it is killed. */
import { thisHost } from "viceroy";
import { loadVaults } from "../../supervise/vault.js";

const { DeepVault } = await loadVaults();
const procs = thisHost().spawnProcs();
const vault = procs.with({ restart: { from: "checkpoint" } }).spawn("vault", DeepVault);
await vault.fill.callOne(32 * 1024 * 1024);
process.stdout.write(`actor ${(await vault.life.callOne()).pid}\n`);
for (let i = 1; ; i++) {
  await vault.checkpoint();
  process.stdout.write(`taken ${i}\n`);
}
