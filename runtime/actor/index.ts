/** The names of the actor layer that users and generated code import. */
export { Actor, type SupervisedFailure } from "./actor.js";
export type { CallOptions, RetryOptions } from "./call/call-guard.js";
export { Endpoint, PropagatedEndpoint } from "./call/endpoint.js";
export { Future, firstCompleted, type GetOptions } from "./call/future.js";
export type { Settled } from "./call/gather-call.js";
export type { MapItems, MapOptions, MapOptionsWithArgs, MapProgress, SingleArgument } from "./call/map/map-options.js";
export {
  type Operation,
  type Reduced,
  type Reducer,
  type ReductionName,
  type Reductions,
  registerReducer,
  topK,
} from "./call/reduction.js";
export { send } from "./call/send.js";
export { StreamEndpoint } from "./call/stream-endpoint.js";
export { context } from "./context.js";
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
export { ActorMesh, descriptorOf, livingPoint } from "./mesh/actor-mesh.js";
export type { Apply, Awaitable, MeshKind } from "./mesh-kind.js";
export { Channel, PortReceiver } from "./port/channel.js";
export { Port } from "./port/port.js";
export type { ActorContext, CallerContext, Context, ProcContext, Trace } from "./reference/handler-context.js";
export type { MeshStopOptions } from "./reference/mesh-record.js";
export type { Undeliverable } from "./reference/undeliverable.js";
export type { Sent } from "./sent.js";
