/**
 * The parts of the runtime that tasks use. Tasks are a separate bundle, so that programs without tasks do not load it. It
 * must share these parts with the program, which has one instance of them.
 */

export { usesMusl } from "../../native/c-library.js";
export { type AnswerTaker, callForAnswer } from "../actor/call/answer-call.js";
export { interruptAtStop } from "../actor/cell/endless-handlers.js";
export {
  type AnyTurn,
  callInTurn,
  currentCell,
  currentTurn,
  mainClock,
  mainRoot,
  NoMessageTurn,
  runInTurn,
  runWithoutStorage,
} from "../actor/context.js";
export { RefusingDestination } from "../actor/delivery/refusing-destination.js";
export { viewOf } from "../actor/mesh/actor-mesh.js";
export { portsRead, portsWritten } from "../actor/port/announce-holders.js";
export { PortTarget } from "../actor/port/port-target.js";
export { type DropDetector, type DroppableReference, garbageCollector } from "../actor/proc/drop-watch.js";
export type { ActorClass } from "../actor/reference/actor-request.js";
export type { LocalActor } from "../actor/reference/local-actor.js";
export { checkStopOptions } from "../actor/reference/mesh-record.js";
export type { OpenPort, PortOwner } from "../actor/reference/open-port.js";
export { lockFile } from "../cache/file-lock.js";
export { cacheDirectory, makePrivateDirectory } from "../cache/private-files.js";
export { endController } from "../host/hand-over/controller-end.js";
export { daemonsOf, findOnHosts, serveOnHosts } from "../host/hand-over/serve-on-hosts.js";
export { servedHosts } from "../host/hand-over/served-actor.js";
export { attachmentOf } from "../host/mesh/host-mesh.js";
export {
  CONTEXT_BYTES,
  HEAD,
  OBJECTS,
  RECORD_BYTES,
  SLOT,
  SLOT_WORDS,
  totalUsage,
  type Usage,
} from "../host/objects/usage-layout.js";
export { quote } from "../job/quote.js";
export type { Clock } from "../link/clock.js";
export { DeliveryError } from "../link/errors.js";
export {
  canSealMemory,
  countSealed,
  isUsedElsewhere,
  mapSealed,
  newToken,
  openByToken,
  openSealed,
  type SealedPlace,
  sealMemory,
  UnsealedMemory,
} from "../link/transport/shared-memory/sealed-memory.js";
export { sharedMemoryAddon } from "../link/transport/shared-memory/select-addon.js";
export { ownMachineId, UNKNOWN_MACHINE } from "../machine-id.js";
export { MEMORY_FILE_LINK } from "../native/rdma-addon.js";
export { crc32 } from "../proc/checkpoint/crc32.js";
export { type ProcessGuard, processGuard } from "../proc/launch/process-guard.js";
export { callLimit } from "../proc/mesh/spawn-plan.js";
export { importModule } from "../proc/platform/import-module.js";
export { currentRuntime } from "../proc/process/current-runtime.js";
export { markedProcesses, processIds, processStat, readProcessFile, taskMarkVariable } from "../process-table.js";
export { checkOptionNames } from "../shape/check-options.js";
export {
  baseRanks,
  meshOfRegion,
  meshRegion,
  type Region,
  RegionMesh,
  type RegionMeshKind,
  regionSize,
  wholeRegion,
} from "../shape/index.js";
export { oneRank } from "../shape/one-rank.js";
export { ComposedCodec } from "../wire/composed/composed-codec.js";
