/** The codec of the value of a result: that of plain values, or that of a schema. */

import type { TaskFunction } from "../../../generated/tasks.js";
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
  /** The task whose schema describes the values. Undefined: they are plain values. */
  readonly task?: TaskFunction | undefined;
  /** Loads what `decode` needs. Undefined: nothing is missing. */
  readonly load?: () => Promise<void>;
}
