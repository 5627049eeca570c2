/** Translating encoded messages to the protobuf layout, for receivers whose schemas differ from the sender's. */
import { expect, test } from "vitest";
import { type SentTensor, SentTensorCodec } from "../../../generated/tensor.js";
import { actorHandleCodecs } from "../../../runtime/actor/mesh/handle-codecs.js";
import { translateToProtobuf } from "../../../runtime/actor/schema/translate-layout.js";
import { defaultLinkLimits } from "../../../runtime/link/link-limits.js";
import { encodeMessage } from "../../../runtime/link/outbound/encode-message.js";
import type { EncodedMessage } from "../../../runtime/link/outbound/encoded-message.js";
import { tensorArguments } from "../../../runtime/tensor/call/tensor-interceptor.js";
import type { Codec } from "../../../runtime/wire/codec.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import type { MessageHandles } from "../../../runtime/wire/message-handles.js";
import { protobufArguments } from "../../../runtime/wire/protobuf-messages.js";
import { Reader } from "../../../runtime/wire/reader.js";
import { messageHandles, setWireEnvironment } from "../../../runtime/wire/wire-environment.js";

setWireEnvironment(actorHandleCodecs);

/** Handles by which a test writes and reads what stands for a tensor in a message. */
const plain: MessageHandles = messageHandles({
  writeTensor: (w, value) => w.append(SentTensorCodec, value as SentTensor),
  readTensor: (r) => r.next(SentTensorCodec),
});

const args = codec.tuple(codec.string, codec.array(codec.tensor<SentTensor>())) as Codec<unknown>;
const protobuf = protobufArguments(args);

function encode(value: unknown): EncodedMessage {
  const layout = {
    encodeInto(w: Parameters<typeof args.encodeInto>[0], given: unknown) {
      w.handles = plain;
      args.encodeInto(w, given);
      w.handles = undefined;
    },
  };
  return encodeMessage({ label: "models.forward", codec: layout as never, protobuf }, value, defaultLinkLimits);
}

function decode({ bytes }: EncodedMessage): unknown {
  const r = new Reader();
  r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, bytes.length, undefined);
  r.handles = plain;
  return protobuf.decodeFrom(r);
}

test("tensors that are lent or sent by value stay what they are", () => {
  const lent: SentTensor = { case: "lent", value: { mesh: 7n, number: 3n } };
  const message = ["batch", [lent, lent]];
  const translated = translateToProtobuf(
    args,
    protobuf,
    encode(message),
    defaultLinkLimits,
    tensorArguments.forwardedHandles,
  );
  expect(translated.isProtobuf).toBe(true);
  expect(decode(translated)).toEqual(message);
});
