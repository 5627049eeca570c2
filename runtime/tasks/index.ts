/**
 * Tasks: functions that run on worker processes, with a scheduler, references to their results, and named actors.
 *
 * @module
 */
import "./register.js";

export type { ActorHandle, EndpointNames, HandleEndpoint, RunArgs, RunnableEndpoint } from "./actors/actor-handle.js";
export type { OwnActorOptions } from "./actors/actor-options.js";
export type { ActorOptions } from "./actors/context-actor-options.js";
export {
  ClusterContext,
  type ClusterOptions,
  type JobClass,
  type JobInfo,
  JobNotFoundError,
  type JobStatus,
  type SliceType,
  sliceTypes,
  type TpuRunConfig,
  type TpuVm,
} from "./cluster/index.js";
export type { GetOptions, Values } from "./context/get-options.js";
export { JobContext, type RefOr, type RefOrArgs, type TaskRunner } from "./context/job-context.js";
export type { HostObjects, ObjectInfo, ObjectReport } from "./context/list-objects.js";
export type { JobContextOptions } from "./context/open-options.js";
export type { RunOptions } from "./context/run-options.js";
export type { WaitOptions } from "./context/wait-options.js";
export { type DetachedActorInfo, detachedActors } from "./detached/list-detached.js";
export { RuntimeEnv, type RuntimeEnvOptions } from "./environment/index.js";
export {
  ActorNameTakenError,
  DetachedActorError,
  ObjectLostError,
  ObjectStoreFullError,
  ResourceUnavailableError,
  TaskCancelledError,
  TaskError,
  type TaskErrorOptions,
  WorkerLostError,
} from "./errors.js";
export { objectRefCodec } from "./guests/object-ref-codec.js";
export type { Resources } from "./host/resources.js";
export type { ObjectOptions } from "./objects/object-limits.js";
export { PlacementGroup } from "./placement/placement-group.js";
export type { PlacementOptions } from "./placement/placement-options.js";
export type { PlacementStrategy } from "./placement/plan-bundles.js";
export type { ObjectRef } from "./refs/object-ref.js";
export { task } from "./task.js";
export type { Task, TaskFunctionOptions } from "./task-object.js";
export { type PlainFault, type PlainPlace, PlainValueError } from "./values/index.js";
