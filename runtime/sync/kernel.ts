/**
 * The parts of the runtime that syncs use. Syncs are a separate module, which a program loads when it brings code to hosts, and
 * hosts when they receive it. It must share these parts with the program, which has one instance of them.
 */
export { currentCell, NoMessageTurn, runInTurn } from "../actor/context.js";
export type { LocalActor } from "../actor/reference/local-actor.js";
export type { AttachedHosts } from "../host/attached/attached-hosts.js";
export type { CodePlace, CodeTree } from "../host/attached/hosts-code.js";
export { programRegistries } from "../host/mesh/first-code.js";
export { HostMesh } from "../host/mesh/host-mesh.js";
export { syncModule } from "../host/mesh/sync-code.js";
export type { SyncedHost, SyncOptions, SyncReport } from "../host/mesh/sync-options.js";
export type { ProcId } from "../link/address.js";
export { inheritedTsx } from "../proc/launch/prepared-typescript.js";
export { locateModule, type MovedFolder, ownScheme, placesOfNext } from "../proc/platform/program-places.js";
export { runAsRoot } from "../proc/proc-agents.js";
export { currentRuntime } from "../proc/process/current-runtime.js";
export type { ProcessRuntime } from "../proc/process/process-runtime.js";
export { baseRanks, type Region } from "../shape/index.js";
