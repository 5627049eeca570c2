/** The transports that there are, best first. */
import type { RdmaAddon } from "../native/rdma.js";
import type { Backend } from "./backend.js";
import type { Road } from "./memory-proc.js";
import { PeerTables } from "./peer-tables.js";
import { SharedBackend } from "./shared.js";
import { StreamBackend } from "./stream.js";
import { VmBackend } from "./vm.js";

export function makeBackends(addon: RdmaAddon | undefined, road: Road): readonly Backend[] {
  const peers = new PeerTables(addon);
  return [new SharedBackend(addon, peers), new VmBackend(addon, peers), new StreamBackend(road)];
}
