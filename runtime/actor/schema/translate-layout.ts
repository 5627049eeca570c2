/**
 * Translates an encoded message from the lockstep layout to the protobuf layout, for a receiver with another schema.
 */

import type { LinkLimits } from "../../link/link-limits.js";
import { encodeMessage } from "../../link/outbound/encode-message.js";
import type { EncodedMessage } from "../../link/outbound/encoded-message.js";
import type { OutboundMessage } from "../../link/outbound/message-sender.js";
import type { Codec } from "../../wire/codec.js";
import type { MessageHandles } from "../../wire/message-handles.js";
import { Reader } from "../../wire/reader.js";
import { portsRead, portsWritten } from "../port/announce-holders.js";

/**
 * Returns the message in the protobuf layout. The holders of its ports are not announced again: that happened when the
 * message was sent for the first time.
 *
 * @param handles the codecs of its handles, if they are not those of the process
 * @throws {CodecError}
 * @throws {MessageSizeError}
 */
export function translateToProtobuf(
  codec: Codec<unknown>,
  protobuf: OutboundMessage["protobuf"],
  { bytes, blocks }: EncodedMessage,
  limits: LinkLimits,
  handles?: MessageHandles,
): EncodedMessage {
  const r = new Reader();
  r.handles = handles;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  r.reset(bytes, view, 0, bytes.length, blocks.length === 0 ? undefined : blocks);
  const written = portsWritten.length;
  const read = portsRead.length;
  try {
    const message = { label: codec.name, codec, protobuf: withHandles(protobuf, handles) };
    return encodeMessage(message, codec.decodeFrom(r), limits, true);
  } finally {
    portsRead.length = read;
    portsWritten.length = written;
  }
}

/** Returns an encoder that writes handles by the given codecs. */
function withHandles(
  layout: OutboundMessage["protobuf"],
  handles: MessageHandles | undefined,
): OutboundMessage["protobuf"] {
  if (handles === undefined) return layout;
  return {
    encodeInto(w, value) {
      const outer = w.handles;
      w.handles = handles;
      try {
        layout.encodeInto(w, value);
      } finally {
        w.handles = outer;
      }
    },
  };
}
