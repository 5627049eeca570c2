/**
 * Messages in the protobuf layout between processes whose schemas differ. Arguments are one message; a single value (a
 * result, an item of a stream, a value sent to a port) is a message with one field.
 */
import type { Codec } from "./codec.js";
import { CodecError } from "./codec-error.js";
import { codec } from "./composed/index.js";
import { MessageCodec } from "./message-codec.js";
import type { MessageLayout } from "./message-layout.js";
import type { Reader } from "./reader.js";
import type { Writer } from "./writer.js";

class ArgumentsMessage<T> implements MessageLayout<T> {
  readonly #codec: Codec<T>;

  constructor(plain: Codec<T>) {
    this.#codec = plain;
  }

  encodeInto(w: Writer, value: T): void {
    const codec = this.#codec;
    const bytes = codec instanceof MessageCodec ? codec.toProtobufWith(w.handles, value) : codec.toProtobuf(value);
    const at = w.reserve(bytes.length);
    w.bytes.set(bytes, at);
  }

  decodeFrom(r: Reader): T {
    if (r.blocks !== undefined) {
      throw new CodecError("decode", this.#codec.name, "the protobuf layout has no blocks beside the message");
    }
    const codec = this.#codec;
    const bytes = r.bytes.subarray(r.position, r.end);
    return codec instanceof MessageCodec ? codec.fromProtobufWith(r.handles, bytes) : codec.fromProtobuf(bytes);
  }
}

class SingleValueMessage<T> implements MessageLayout<T> {
  readonly #message: ArgumentsMessage<readonly [T]>;

  constructor(plain: Codec<T>) {
    this.#message = new ArgumentsMessage(codec.tuple<readonly [T]>(plain));
  }

  encodeInto(w: Writer, value: T): void {
    this.#message.encodeInto(w, [value]);
  }

  decodeFrom(r: Reader): T {
    return this.#message.decodeFrom(r)[0];
  }
}

const knownArguments = new WeakMap<Codec<unknown>, MessageLayout<unknown>>();
const knownSingles = new WeakMap<Codec<unknown>, MessageLayout<unknown>>();

/** Returns the protobuf layout of arguments: a message whose field numbers are the ids of the parameters. */
export function protobufArguments(plain: Codec<unknown>): MessageLayout<unknown> {
  return memoizedLayout(knownArguments, plain, () => new ArgumentsMessage(plain));
}

/** Returns the protobuf layout of one value: a message with the value as field 1. */
export function protobufValue(plain: Codec<unknown>): MessageLayout<unknown> {
  return memoizedLayout(knownSingles, plain, () => new SingleValueMessage(plain));
}

/** Decodes one value in the layout of its message. */
export function decodeValue(plain: Codec<unknown>, r: Reader): unknown {
  return r.protobuf ? protobufValue(plain).decodeFrom(r) : plain.decodeFrom(r);
}

function memoizedLayout(
  layouts: WeakMap<Codec<unknown>, MessageLayout<unknown>>,
  plain: Codec<unknown>,
  make: () => MessageLayout<unknown>,
): MessageLayout<unknown> {
  let layout = layouts.get(plain);
  if (layout === undefined) {
    layout = make();
    layouts.set(plain, layout);
  }
  return layout;
}
