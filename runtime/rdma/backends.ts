/** The transports that there are, best first. */
import type { Clock, Random } from "../link/clock.js";
import type { RdmaAddon } from "../native/rdma-addon.js";
import type { TransportBackend } from "./backend.js";
import { PeerGrantTables } from "./peer-tables.js";
import type { PeerConnector } from "./roads.js";
import { SharedBackend } from "./shared.js";
import { StreamBackend } from "./stream/backend.js";
import type { GrantLookup } from "./table.js";
import { VerbsBackend } from "./verbs/backend.js";
import { VmBackend } from "./vm.js";

/** @param grants of this process */
export function createBackends(
  addon: RdmaAddon | undefined,
  road: PeerConnector,
  grants: GrantLookup,
  clock: Clock,
  random: Random,
): readonly TransportBackend[] {
  const peers = new PeerGrantTables(addon, clock);
  return [
    new SharedBackend(addon, peers),
    new VmBackend(addon, peers),
    new VerbsBackend(addon, grants, clock),
    new StreamBackend(road, grants, clock, random),
  ];
}
