/** Encodes a message apart from the batch of a link: for several receivers, or for the queue of a session. */
import { losesInLockstep, mayBeNewer } from "../../wire/protobuf/newer-values.js";
import { Writer } from "../../wire/writer.js";
import { MessageSizeError } from "../errors.js";
import { HEADER_BYTES } from "../frame/frame.js";
import type { LinkLimits } from "../link-limits.js";
import type { EncodedMessage } from "./encoded-message.js";
import type { OutboundMessage } from "./message-sender.js";

const noBlocks: readonly Uint8Array[] = [];
/**
 * The writer for messages. It is in use until the message is released. Another message that is encoded meanwhile, by a getter of the value for
 * example, gets a new writer.
 */
let spareWriter: Writer | undefined = new Writer();

/**
 * A message for several receivers. Its bytes stay in the memory of the writer until `release`, because most sessions copy
 * them into their batch at once: to allocate memory for a copy takes longer than to encode a small message.
 */
export class SharedMessage implements EncodedMessage {
  readonly bytes: Uint8Array;
  readonly blocks: readonly Uint8Array[];
  readonly size: number;
  readonly isProtobuf: boolean;
  readonly #writer: Writer;
  #kept: EncodedMessage | undefined;

  constructor(writer: Writer, size: number, isProtobuf: boolean) {
    this.#writer = writer;
    this.bytes = writer.bytes.subarray(0, writer.position);
    this.blocks = writer.blocks.length === 0 ? noBlocks : writer.blocks.splice(0);
    this.size = size;
    this.isProtobuf = isProtobuf;
  }

  /** Returns the copy that all who keep the message share. */
  keep(): EncodedMessage {
    const { blocks, size, isProtobuf } = this;
    this.#kept ??= { bytes: this.#writer.copy(0), blocks, size, isProtobuf };
    return this.#kept;
  }

  /** Gives the memory back. Called once, when the message has been passed to all sessions. */
  release(): void {
    giveBack(this.#writer);
  }
}

/** Encodes a message into memory of its own, as `encodeShared` does. */
export function encodeMessage(
  message: OutboundMessage,
  value: unknown,
  limits: LinkLimits,
  protobuf = false,
): EncodedMessage {
  const shared = encodeShared(message, value, limits, protobuf);
  const own = shared.keep();
  shared.release();
  return own;
}

/**
 * Encodes a message. Its blocks are those of the value, not copies. A value that the lockstep layout cannot represent is
 * encoded in the protobuf layout.
 * @param protobuf whether the receiver needs the protobuf layout
 * @throws CodecError, MessageSizeError
 */
export function encodeShared(
  message: OutboundMessage,
  value: unknown,
  limits: LinkLimits,
  protobuf = false,
): SharedMessage {
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
): SharedMessage {
  const w = spareWriter ?? new Writer();
  spareWriter = undefined;
  try {
    (isProtobuf ? message.protobuf : message.codec).encodeInto(w, value);
    let size = w.position;
    for (const block of w.blocks) size += block.length;
    checkMessageSize(message.label, size, limits);
    return new SharedMessage(w, size, isProtobuf);
  } catch (error) {
    w.blocks.length = 0;
    giveBack(w);
    throw error;
  }
}

function giveBack(w: Writer): void {
  w.clear();
  spareWriter = w;
}

/**
 * Checks that a message of `size` bytes fits into a frame.
 * @throws MessageSizeError if it does not
 */
export function checkMessageSize(label: string, size: number, limits: LinkLimits): void {
  if (size + HEADER_BYTES > limits.maxFrame) throw messageSizeError(label, size, limits);
}

function messageSizeError(label: string, size: number, { maxFrame }: LinkLimits): MessageSizeError {
  return new MessageSizeError(
    `cannot send ${label}: its message has ${size} bytes, more than the limit of ${maxFrame} for a frame; send it in parts`,
  );
}
