/**
 * The main entry point: hosts, procs, meshes, endpoints, failures, values and codecs. Importing it starts nothing; the
 * first use starts the runtime.
 *
 * @module
 */
import { setMainRoot } from "./actor/context.js";
import { actorEnvironment } from "./actor/environment.js";
import { program } from "./proc/local.js";
import { bufferEnvironment } from "./rdma/environment.js";
import { setWireEnvironment } from "./wire/environment.js";

setWireEnvironment({ ...actorEnvironment, ...bufferEnvironment });
setMainRoot(() => program().home.proc.root);

export * from "./actor/index.js";
export { type AttachOptions, attachHosts } from "./host/attach.js";
export { hostsFromConfig } from "./host/from-config.js";
export { HostMesh, thisHost, thisProc } from "./host/host-mesh.js";
export type { Env, Isolation, ReplaceOptions, SpawnProcsOptions } from "./host/options.js";
export { type ArgsOf, type MeshOf, ProcMesh, type SpawnableClass } from "./host/proc-mesh.js";
export type { SpawnOptions, WatchdogOptions } from "./host/spawn-options.js";
export type { ActorAddress, ActorId, MeshId, ProcId } from "./link/address.js";
export type { TlsFiles } from "./link/tls/credentials.js";
export { isTraceparent } from "./link/trace.js";
export type { LogLevel } from "./observe/logs/level.js";
export { type LogOptions, type Logs, logs } from "./observe/logs/logs.js";
export { onUnhandledFault } from "./proc/local.js";
export type { LineOrigin, Stdio } from "./proc/stdio.js";
export {
  type Coordinates,
  type Extent,
  type Only,
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
export type { FailureCause } from "./supervise/cause.js";
export {
  type AffectedMesh,
  type FailureKind,
  type FailureRecord,
  MeshFailure,
  type PastFailure,
} from "./supervise/failure.js";
export { MeshFailureCodec } from "./supervise/failure-codec.js";
export type { RestartOptions } from "./supervise/restart.js";
export type { UnhandledFaultHook } from "./supervise/unhandled.js";
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
export { describeActor } from "./wire/protobuf/describe.js";
