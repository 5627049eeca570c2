/**
 * The main entry point: hosts, procs, meshes, endpoints, failures, values and codecs. Importing it starts nothing; the
 * first use starts the runtime.
 *
 * @module
 */
import { setMainRoot } from "./actor/context.js";
import { actorHandleCodecs } from "./actor/mesh/handle-codecs.js";
import { programRuntime } from "./proc/process/current-runtime.js";
import { rdmaBufferCodec } from "./rdma/rdma-buffer-codec.js";
import { setWireEnvironment } from "./wire/wire-environment.js";

setWireEnvironment({ ...actorHandleCodecs, ...rdmaBufferCodec });
setMainRoot(() => programRuntime().mainProc.proc.root);

export type { Checkpoint } from "../generated/checkpoint.js";
export * from "./actor/index.js";
export { type AttachOptions, attachHosts } from "./host/attach-hosts.js";
export { hostsFromConfig } from "./host/hosts-from-config.js";
export type { ContextUse, HostDescription, HostDriver, HostProcess } from "./host/mesh/describe-hosts.js";
export { HostMesh, thisHost, thisProc } from "./host/mesh/host-mesh.js";
export {
  type ArgsOf,
  type MeshOf,
  ProcMesh,
  type RestartProcsOptions,
  type SpawnableClass,
} from "./host/mesh/proc-mesh.js";
export type { ResizeHostsOptions } from "./host/mesh/resize-hosts.js";
export type { ResizeOptions, ResizeSpec } from "./host/mesh/resize-options.js";
export type { SpawnOptions, WatchdogOptions } from "./host/mesh/spawn-options.js";
export type { Env, Isolation, ReplaceOptions, SpawnProcsOptions } from "./host/mesh/spawn-procs-options.js";
export type { SyncedHost, SyncOptions, SyncProgress, SyncReport } from "./host/mesh/sync-options.js";
export { type LookupClass, type LookupOptions, lookup } from "./host/publish/lookup.js";
export { PublishedMesh, publish } from "./host/publish/publish.js";
export type { ActorAddress, ActorId, MeshId, ProcId } from "./link/address.js";
export { isTraceparent } from "./link/trace-context.js";
export type { TlsFiles } from "./link/transport/tls/credentials.js";
export type { LogLevel } from "./observe/logs/log-level.js";
export { type LogOptions, type Logs, logs } from "./observe/logs/logs.js";
export { fileStore } from "./proc/checkpoint/file-store.js";
export type { InspectOptions } from "./proc/launch/inspector.js";
export type { LineOrigin, Stdio } from "./proc/launch/stdio.js";
export { onUnhandledFault } from "./proc/process/current-runtime.js";
export { runProgram } from "./proc/process/run-program.js";
export {
  type Coordinates,
  type Extent,
  type OnlyKeys,
  Point,
  type PointFor,
  Range,
  type Renamed,
  type RenameSpec,
  range,
  type Sliced,
  type SliceSpec,
  type Split,
  type SplitNames,
  type SplitSizes,
  type SplitSpec,
  ValueMesh,
} from "./shape/index.js";
export { CheckpointCodec } from "./supervise/checkpoint-codec.js";
export { CheckpointError } from "./supervise/checkpoint-error.js";
export type { CheckpointPlace, CheckpointStore } from "./supervise/checkpoint-store.js";
export type { FailureCause } from "./supervise/failure-cause.js";
export {
  type AffectedMesh,
  type FailureKind,
  type FailureRecord,
  MeshFailure,
  type PastFailure,
} from "./supervise/mesh-failure.js";
export { MeshFailureCodec } from "./supervise/mesh-failure-codec.js";
export type { RestartOptions } from "./supervise/restart-policy.js";
export type { UnhandledFaultHook } from "./supervise/unhandled-faults.js";
export { SyncError, type SyncErrorCode } from "./sync/sync-error.js";
export { version } from "./version.js";
export type { ActorDescriptor, EndpointDescriptor } from "./wire/descriptor.js";
export {
  type Codec,
  CodecError,
  codec,
  type DecodeOptions,
  type JsonReadOptions,
  type JsonValue,
  type JsonWriteOptions,
  unknownFields,
  type ValueOf,
  type WithUnknownFields,
  withoutHandles,
} from "./wire/index.js";
export { describeActor } from "./wire/protobuf/describe-schema.js";
