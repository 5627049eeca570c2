/** Encoding and decoding of values. Independent of actors and links. */
export type { Codec, DecodeOptions, JsonReadOptions, JsonWriteOptions, ValueOf } from "./codec.js";
export { CodecError } from "./codec-error.js";
export { codec } from "./composed/index.js";
export {
  type ActorDefinition,
  type ActorDescriptor,
  type ArgsDefinition,
  defineActor,
  defineArgs,
  type EndpointDefinition,
  type EndpointDescriptor,
} from "./descriptor.js";
export { GeneratedCodec, type LockstepLayout, type Mutable } from "./generated-codec.js";
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
} from "./protobuf/index.js";
export { Reader } from "./reader.js";
export type { JsonValue } from "./well-known.js";
export { setWireEnvironment, type WireEnvironment, wireEnvironment, withoutHandles } from "./wire-environment.js";
export { Writer } from "./writer.js";
