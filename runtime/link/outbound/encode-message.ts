/** Encodes a message apart from the batch of a link: for several receivers, or for the queue of a session. */
import { losesInLockstep, mayBeNewer } from "../../wire/protobuf/newer-values.js";
import { Writer } from "../../wire/writer.js";
import { MessageSizeError } from "../errors.js";
import { HEADER_BYTES } from "../frame/frame.js";
import type { LinkLimits } from "../link-limits.js";
import type { EncodedMessage } from "./encoded-message.js";
import type { OutboundMessage } from "./message-sender.js";

const noBlocks: readonly Uint8Array[] = [];
/** The writer for messages. Encoding nests only if a getter of the value sends a message itself, which then gets a new writer. */
let spareWriter: Writer | undefined = new Writer();

/**
 * Encodes a message into memory of its own. Its blocks are those of the value, not copies. A value that the lockstep
 * layout cannot represent is encoded in the protobuf layout.
 * @param protobuf whether the receiver needs the protobuf layout
 * @throws CodecError, MessageSizeError
 */
export function encodeMessage(
  message: OutboundMessage,
  value: unknown,
  limits: LinkLimits,
  protobuf = false,
): EncodedMessage {
  // `Session` and `FrameSender.sendReply` choose the layout in the same way, but write into the batch of their link. A shared
  // function would have to be passed the way of writing, which costs each message a closure or an indirect call.
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

/**
 * Checks that a message of `size` bytes fits into a frame.
 * @throws MessageSizeError if it does not
 */
export function checkMessageSize(label: string, size: number, limits: LinkLimits): void {
  if (size + HEADER_BYTES <= limits.maxFrame) return;
  throw new MessageSizeError(
    `cannot send ${label}: its message has ${size} bytes, more than the limit of ${limits.maxFrame} for a frame; ` +
      "send it in parts",
  );
}
