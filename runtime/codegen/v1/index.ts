/**
 * The interface between generated code and the runtime, version 1. Generated code imports this entry point and nothing
 * else of the runtime; programs do not import it. Its names keep their meaning: code that an older compiler generated
 * runs on a newer runtime.
 *
 * @module
 */
export { Actor } from "../../actor/actor.js";
export type { Endpoint, PropagatedEndpoint } from "../../actor/call/endpoint.js";
export type { StreamEndpoint } from "../../actor/call/stream-endpoint.js";
export type { ActorMesh } from "../../actor/mesh/actor-mesh.js";
/** @internal */
export { procsOf } from "../../actor/mesh/actor-mesh.js";
export type { Apply, Awaitable, MeshKind } from "../../actor/mesh-kind.js";
export type { Port } from "../../actor/port/port.js";
export { type ActorEntry, type Registration, registerActors } from "../../proc/platform/actor-registry.js";
/** @internal */
export { importModule } from "../../proc/platform/import-module.js";
export type { RdmaBuffer } from "../../rdma/rdma-buffer.js";
export type { Codec, DecodeOptions } from "../../wire/codec.js";
export { codec } from "../../wire/composed/index.js";
export {
  type ActorDefinition,
  type ActorDescriptor,
  type ArgsDefinition,
  defineActor,
  defineArgs,
  type EndpointDefinition,
  type EndpointDescriptor,
} from "../../wire/descriptor.js";
export type {
  ArgumentsLayout,
  EndpointInterceptor,
  HandlerTurn,
  MessageReceivers,
  OutgoingMessage,
  RetainedOutcome,
  RetainingCall,
} from "../../wire/endpoint-interceptor.js";
export { GeneratedCodec, type LockstepLayout, type Mutable } from "../../wire/generated-codec.js";
export { checkImportedCodec } from "../../wire/imported-codec.js";
/** @internal */
export { decodeWith, encodeWith } from "../../wire/message-codec.js";
/** @internal */
export type { MessageHandles } from "../../wire/message-handles.js";
/** @internal */
export { describeActor } from "../../wire/protobuf/describe-schema.js";
export {
  checkUnknownCase,
  isEmpty,
  ProtobufReader,
  ProtobufWriter,
  readCollection,
  readUnknownCase,
  readUnknownVariant,
  unknownFields,
  type WithUnknown,
  type WithUnknownFields,
  withUnknown,
  writeCollection,
  writeUnknownVariant,
} from "../../wire/protobuf/index.js";
export { Reader } from "../../wire/reader.js";
export {
  defineTask,
  type TaskArguments,
  type TaskDefinition,
  type TaskDescriptor,
  type TaskResult,
  type TaskSchema,
  type TaskTypes,
} from "../../wire/task-schema.js";
export type { Decoded, UnknownCase, UnknownNumber, UnknownValue, UnknownVariant } from "../../wire/unknown-types.js";
export type * from "../../wire/well-known.js";
/** @internal */
export { extendWireEnvironment, messageHandles } from "../../wire/wire-environment.js";
export { Writer } from "../../wire/writer.js";
