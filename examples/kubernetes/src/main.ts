/** Finds the number below a million with the longest Collatz chain, in pods that the cluster may replace meanwhile. */
import "../generated/registry.js";
import { SupervisionError } from "viceroy";
import { ChainSearcher } from "./chain-searcher.js";
import { job } from "./job.js";

const perHost = 2;
const rounds = 5;
const limit = 1_000_000;

void (async () => {
  for await (const { kind, reason } of job.watch()) {
    if (kind === "warned" || kind === "host-lost" || kind === "host-replaced") console.error(`${kind}: ${reason}`);
  }
})();

await using _killedAtTheEnd = job;
const { searchers } = await job.state();
const workers = searchers.extent.hosts * perHost;
const actors = searchers
  .spawnProcs({ workers: perHost }, { restart: { policy: "on-failure" } })
  .spawn("searchers", ChainSearcher);

/** Searches the blocks of one round. A round whose pod is lost is repeated when another pod has taken its rank. */
async function search(round: number) {
  for (;;) {
    try {
      const chains = await actors.search.with({ wait: true }).call(round, workers, limit / rounds / workers);
      return [...chains.values()];
    } catch (error) {
      if (!(error instanceof SupervisionError)) throw error;
    }
  }
}

let longest = { start: 1, steps: 0, host: "" };
for (let round = 0; round < rounds; round++) {
  for (const chain of await search(round)) if (chain.steps > longest.steps) longest = chain;
  const below = (((round + 1) * limit) / rounds).toLocaleString("en");
  console.log(`up to ${below}: ${longest.start.toLocaleString("en")} takes ${longest.steps} steps`);
}
console.log(`${longest.host} has found it`);
