/** Creates the backends of all transports, the fastest first. */
import type { Clock, Random } from "../../link/clock.js";
import type { RdmaAddon } from "../../native/rdma-addon.js";
import type { GrantLookup } from "../grant/grant-table.js";
import type { PeerConnector } from "../peer/peer-connector.js";
import type { TransportBackend } from "../transport/backend.js";
import { PeerGrantTables } from "../transport/same-host/peer-grant-tables.js";
import { SharedBackend } from "../transport/shared/backend.js";
import { StreamBackend } from "../transport/stream/backend.js";
import { VerbsBackend } from "../transport/verbs/backend.js";
import { VmBackend } from "../transport/vm/backend.js";

/** @param grants the grants of this process */
export function createBackends(
  addon: RdmaAddon | undefined,
  connector: PeerConnector,
  grants: GrantLookup,
  clock: Clock,
  random: Random,
): readonly TransportBackend[] {
  const peers = new PeerGrantTables(addon, clock);
  return [
    new SharedBackend(addon, peers),
    new VmBackend(addon, peers),
    new VerbsBackend(addon, grants, clock),
    new StreamBackend(connector, grants, clock, random),
  ];
}
