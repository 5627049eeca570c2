/**
 * Encodes and decodes constructor arguments for spawn orders and spawn plans. They are in the lockstep layout, or in
 * the protobuf layout if they contain more than the lockstep layout can express.
 */
import type { Codec } from "../../wire/codec.js";
import { losesInLockstep, mayBeNewer } from "../../wire/protobuf/newer-values.js";

/** Encoded constructor arguments. `protobuf` tells whether they are in the protobuf layout. */
export interface EncodedArguments {
  readonly args: Uint8Array;
  readonly protobuf: boolean;
}

/** @throws CodecError */
export function encodeArguments(codec: Codec<readonly unknown[]>, args: readonly unknown[]): EncodedArguments {
  if (losesInLockstep(codec, args)) return { args: codec.toProtobuf(args), protobuf: true };
  try {
    return { args: codec.encode(args), protobuf: false };
  } catch (error) {
    if (!mayBeNewer(error)) throw error;
    try {
      return { args: codec.toProtobuf(args), protobuf: true };
    } catch {
      throw error;
    }
  }
}

/** @throws CodecError */
export function decodeArguments(
  codec: Codec<readonly unknown[]>,
  { args, protobuf }: EncodedArguments,
): readonly unknown[] {
  return protobuf ? codec.fromProtobuf(args) : codec.decode(args);
}
