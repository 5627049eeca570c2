/**
 * What `viceroy/codegen/v1` is in a browser: codecs and descriptors, which clients of the gateway need. Actors run in
 * Node.js; generated classes can be loaded here, but not used.
 */
import type { ActorDescriptor } from "../wire/descriptor.js";

export type { Codec, DecodeOptions } from "../wire/codec.js";
export { codec } from "../wire/composed/index.js";
export { type ActorDescriptor, defineActor, defineArgs, type EndpointDescriptor } from "../wire/descriptor.js";
export { GeneratedCodec } from "../wire/generated-codec.js";
export { decodeWith, encodeWith } from "../wire/message-codec.js";
export { describeActor } from "../wire/protobuf/describe-schema.js";
export {
  checkUnknownCase,
  isEmpty,
  ProtobufReader,
  ProtobufWriter,
  readCollection,
  readUnknownCase,
  readUnknownVariant,
  unknownFields,
  withUnknown,
  writeCollection,
  writeUnknownVariant,
} from "../wire/protobuf/index.js";
export { Reader } from "../wire/reader.js";
export { defineTask, type TaskDescriptor, type TaskSchema } from "../wire/task-schema.js";
export { extendWireEnvironment, messageHandles } from "../wire/wire-environment.js";
export { Writer } from "../wire/writer.js";

const instead = 'actors run in Node.js. Call them through a gateway, with a client of `emit: ["connect"]`';

/** The base class of generated actor classes. */
export abstract class Actor {
  static get descriptor(): ActorDescriptor {
    throw new Error("cannot read the descriptor of Actor: it is not a generated class");
  }

  constructor() {
    throw new Error(`cannot create ${new.target.name} in a browser: ${instead}`);
  }
}

/** Refuses the registry of a program. */
export function registerActors(): never {
  throw new Error(`cannot register actors in a browser: ${instead}`);
}

/** Refuses a mesh: a browser has none. */
export function procsOf(): never {
  throw new Error(`cannot read the processes of a mesh in a browser: ${instead}`);
}
