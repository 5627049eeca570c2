/** Encoding a message apart from a link's batch: for many receivers, or until there is credit. */
import { losesInLockstep, mayBeNewer } from "../wire/protobuf/newer-values.js";
import { Writer } from "../wire/writer.js";
import { MessageSizeError } from "./errors.js";
import { HEADER } from "./frame.js";
import type { Limits } from "./limits.js";
import type { Message } from "./sending.js";
import type { Encoded } from "./waiting.js";

const noBlocks: readonly Uint8Array[] = [];
/** Encoding does not nest, but for a value whose getters send something: that gets a writer of its own. */
let spare: Writer | undefined = new Writer();

/**
 * A message in memory of its own; its blocks are those of the value.
 * @param protobuf whether the receiver needs the protobuf layout. What the lockstep layout has no room for is in that anyway
 * @throws CodecError, MessageSizeError
 */
export function encodeMessage(message: Message, value: unknown, limits: Limits, protobuf = false): Encoded {
  if (protobuf || losesInLockstep(message.codec, value)) return encode(message, value, limits, true);
  try {
    return encode(message, value, limits, false);
  } catch (error) {
    if (!mayBeNewer(error) || message.protobuf === message.codec) throw error;
    try {
      return encode(message, value, limits, true);
    } catch {
      throw error;
    }
  }
}

function encode(message: Message, value: unknown, limits: Limits, protobuf: boolean): Encoded {
  const w = spare ?? new Writer();
  spare = undefined;
  try {
    (protobuf ? message.protobuf : message.codec).encodeInto(w, value);
    const blocks = w.blocks.length === 0 ? noBlocks : w.blocks.splice(0);
    let size = w.position;
    for (const block of blocks) size += block.length;
    checkSize(message.label, size, limits);
    return { bytes: w.copy(0), blocks, size, protobuf };
  } finally {
    w.blocks.length = 0;
    w.clear();
    spare = w;
  }
}

/** @throws MessageSizeError if a body of so many bytes is too large for a frame */
export function checkSize(label: string, size: number, limits: Limits): void {
  if (size + HEADER <= limits.maxFrame) return;
  throw new MessageSizeError(
    `cannot send ${label}: its message has ${size} bytes, more than the limit of ${limits.maxFrame} for a frame; ` +
      "send it in parts",
  );
}
