/** The transports that there are, best first. */
import type { Clock, Random } from "../link/clock.js";
import type { RdmaAddon } from "../native/rdma-addon.js";
import type { Backend } from "./backend.js";
import { PeerTables } from "./peer-tables.js";
import type { Road } from "./roads.js";
import { SharedBackend } from "./shared.js";
import { StreamBackend } from "./stream/backend.js";
import type { Grants } from "./table.js";
import { VerbsBackend } from "./verbs/backend.js";
import { VmBackend } from "./vm.js";

/** @param grants of this process */
export function makeBackends(
  addon: RdmaAddon | undefined,
  road: Road,
  grants: Grants,
  clock: Clock,
  random: Random,
): readonly Backend[] {
  const peers = new PeerTables(addon, clock);
  return [
    new SharedBackend(addon, peers),
    new VmBackend(addon, peers),
    new VerbsBackend(addon, grants, clock),
    new StreamBackend(road, grants, clock, random),
  ];
}
