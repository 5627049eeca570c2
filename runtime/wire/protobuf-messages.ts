/**
 * Messages between processes whose schemas differ: the protobuf layout where the lockstep layout usually stands. The same
 * halves of a codec that links need, for arguments as they are and for single values (answers, items of streams, what ports
 * take) as a message with one field.
 */
import type { Codec } from "./codec.js";
import { CodecError } from "./codec-error.js";
import { codec } from "./composed/index.js";
import type { MessageLayout } from "./message-layout.js";
import type { Reader } from "./reader.js";
import type { Writer } from "./writer.js";

class ArgumentsMessage<T> implements MessageLayout<T> {
  readonly #codec: Codec<T>;

  constructor(plain: Codec<T>) {
    this.#codec = plain;
  }

  encodeInto(w: Writer, value: T): void {
    const bytes = this.#codec.toProtobuf(value);
    const at = w.reserve(bytes.length);
    w.bytes.set(bytes, at);
  }

  decodeFrom(r: Reader): T {
    if (r.blocks !== undefined) {
      throw new CodecError("decode", this.#codec.name, "the protobuf layout has no blocks beside the message");
    }
    return this.#codec.fromProtobuf(r.bytes.subarray(r.position, r.end));
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

/** Arguments: a message with their ids as numbers. */
export function protobufArguments(plain: Codec<unknown>): MessageLayout<unknown> {
  return memoizedLayout(knownArguments, plain, () => new ArgumentsMessage(plain));
}

/** One value: a message with it as field 1. */
export function protobufValue(plain: Codec<unknown>): MessageLayout<unknown> {
  return memoizedLayout(knownSingles, plain, () => new SingleValueMessage(plain));
}

/** One value in whichever layout its message came. */
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
