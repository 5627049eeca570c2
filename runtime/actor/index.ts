/** What users and generated code see of actors. */
export { Actor, type Failure } from "./actor.js";
export type { MeshStopOptions } from "./address.js";
export { Channel, PortReceiver } from "./channel.js";
export {
  type ActorContext,
  type CallerContext,
  type Context,
  context,
  type ProcContext,
  type Trace,
} from "./context.js";
export { Endpoint, PropagatedEndpoint, StreamEndpoint, send } from "./endpoint.js";
export {
  ActorError,
  type ActorErrorOptions,
  BackpressureError,
  DeadlockError,
  DeliveryError,
  type DeliveryReason,
  MessageSizeError,
  OrphanedError,
  PortClosedError,
  SupervisionError,
  type SupervisionErrorOptions,
  TimeoutError,
} from "./errors.js";
export { Future, firstCompleted, type GetOptions } from "./future.js";
export type { Settled } from "./gather.js";
export type { CallOptions, RetryOptions } from "./guard.js";
export type { Undeliverable } from "./hooks.js";
export type { Apply, Awaitable, MeshKind } from "./kind.js";
export { ActorMesh, descriptorOf, livingPoint } from "./mesh.js";
export { Port } from "./port.js";
export {
  type Operation,
  type Reduced,
  type Reducer,
  type ReductionName,
  type Reductions,
  registerReducer,
  topK,
} from "./reduce.js";
export type { Sent } from "./sent.js";
