/** The codec of the value of a result: that of plain values, or that of a schema. */

import type { TaskFunction } from "../../../generated/tasks.js";
import type { StoredValue } from "../objects/stored-value.js";
import type { PlainPlace } from "../values/index.js";

/** Encodes and decodes the values of one result or argument. */
export interface ValueCodec {
  /** A hash of the type; undefined for plain values. Values of equal types are passed on without being decoded. */
  readonly fingerprint: bigint | undefined;
  /** The name of the type, for messages. */
  readonly name: string;
  /**
   * @param place the argument or result, for errors
   * @throws TypeError if the value is not of the type
   */
  encode(value: unknown, place: PlainPlace): Uint8Array;
  decode(bytes: Uint8Array): unknown;
  /** Encodes like `encode`, and copies no large binary values: they are parts of their own. Absent: nothing is apart. */
  readonly encodeParts?: (value: unknown, place: PlainPlace) => Uint8Array | readonly Uint8Array[];
  /** Decodes a value without copying the binary values that are apart. @param reader who gets the value */
  readonly decodeStored?: (value: StoredValue, reader: object) => unknown;
  /** The task whose schema describes the values. Undefined: they are plain values. */
  readonly task?: TaskFunction | undefined;
  /** Loads what `decode` needs. Undefined: nothing is missing. */
  readonly load?: () => Promise<void>;
}
