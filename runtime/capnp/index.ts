/**
 * Reads and writes Cap'n Proto messages. Generated readers import this entry point, which depends on nothing else of
 * Viceroy. Its names keep their meaning: code that an older compiler generated runs on a newer runtime.
 *
 * @module
 */
export * from "./blob.js";
export * from "./data.js";
export { CapnpError } from "./error.js";
export { json } from "./json.js";
export { ListReader, list, map, record, set } from "./list.js";
export type { ReadLimits } from "./message.js";
export type { WriteOptions } from "./message-builder.js";
export { nullable } from "./nullable.js";
export {
  type RemoteMemory,
  RemoteMessage,
  type RemoteMessageOptions,
  type RemoteReadOptions,
} from "./remote-message.js";
export {
  hasPointer,
  readBool,
  readCase,
  readDate,
  readEnum,
  readFloat32,
  readFloat64,
  readInt32,
  readInt64,
  readPointer,
  readUint16,
  readUint32,
  readUint64,
  StructReader,
} from "./struct.js";
export {
  type Member,
  readMessage,
  readValue,
  type StructShape,
  type StructType,
  struct,
  writeMessage,
} from "./struct-type.js";
export type { CapnpType, DataType, PointerType } from "./type.js";
