/** Encoding a message apart from a link's batch: for many receivers, or until there is credit. */
import { losesInLockstep, mayBeNewer } from "../../wire/protobuf/newer-values.js";
import { Writer } from "../../wire/writer.js";
import { MessageSizeError } from "../errors.js";
import { HEADER_BYTES } from "../frame/frame.js";
import type { LinkLimits } from "../link-limits.js";
import type { EncodedMessage } from "./credit-queue.js";
import type { OutboundMessage } from "./message-sender.js";

const noBlocks: readonly Uint8Array[] = [];
/** Encoding does not nest, but for a value whose getters send something: that gets a writer of its own. */
let spareWriter: Writer | undefined = new Writer();

/**
 * A message in memory of its own; its blocks are those of the value.
 * @param protobuf whether the receiver needs the protobuf layout. What the lockstep layout has no room for is in that anyway
 * @throws CodecError, MessageSizeError
 */
export function encodeMessage(
  message: OutboundMessage,
  value: unknown,
  limits: LinkLimits,
  protobuf = false,
): EncodedMessage {
  if (protobuf || losesInLockstep(message.codec, value)) return encodeInLayout(message, value, limits, true);
  try {
    return encodeInLayout(message, value, limits, false);
  } catch (error) {
    if (!mayBeNewer(error) || message.protobuf === message.codec) throw error;
    try {
      return encodeInLayout(message, value, limits, true);
    } catch {
      throw error;
    }
  }
}

function encodeInLayout(
  message: OutboundMessage,
  value: unknown,
  limits: LinkLimits,
  isProtobuf: boolean,
): EncodedMessage {
  const w = spareWriter ?? new Writer();
  spareWriter = undefined;
  try {
    (isProtobuf ? message.protobuf : message.codec).encodeInto(w, value);
    const blocks = w.blocks.length === 0 ? noBlocks : w.blocks.splice(0);
    let size = w.position;
    for (const block of blocks) size += block.length;
    checkMessageSize(message.label, size, limits);
    return { bytes: w.copy(0), blocks, size, isProtobuf };
  } finally {
    w.blocks.length = 0;
    w.clear();
    spareWriter = w;
  }
}

/** @throws MessageSizeError if a body of so many bytes is too large for a frame */
export function checkMessageSize(label: string, size: number, limits: LinkLimits): void {
  if (size + HEADER_BYTES <= limits.maxFrame) return;
  throw new MessageSizeError(
    `cannot send ${label}: its message has ${size} bytes, more than the limit of ${limits.maxFrame} for a frame; ` +
      "send it in parts",
  );
}
