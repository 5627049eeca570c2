/** Whether this system permits networks of simulated machines with faults, and these networks. */
import { execFileSync, spawnSync } from "node:child_process";
import { peer } from "../peers.js";
import { permitted } from "../permitted.js";

export { Machine, makeNetwork } from "./machines.js";

/** Namespaces need root, a kernel with support for them, and the permission to create them. */
function hasNetworks(): boolean {
  const name = `viceroy-try-${process.pid}`;
  if (spawnSync("ip", ["netns", "add", name]).status !== 0) return false;
  const filter = peer("nft");
  const filters = filter !== undefined && spawnSync("ip", ["netns", "exec", name, filter, "list", "ruleset"]);
  execFileSync("ip", ["netns", "del", name]);
  return filters !== false && filters.status === 0;
}

export const networks = permitted(
  "real faults of networks",
  "root, `ip` with network namespaces, and nft",
  hasNetworks(),
);
