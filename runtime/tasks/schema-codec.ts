/** The codecs of schemas, as those of arguments and results. */
import type { Codec } from "../codegen/v1/index.js";
import type { ValueCodec } from "./refs/value-codec.js";

const known = new WeakMap<Codec<unknown>, ValueCodec>();
const nothing = new Uint8Array(0);

/** A task that returns nothing. */
const voidCodec: ValueCodec = {
  fingerprint: 0n,
  name: "void",
  encode: () => nothing,
  decode: () => undefined,
};

/** Returns the codec of a type of a schema; undefined is `void`. */
export function schemaCodec(codec: Codec<unknown> | undefined): ValueCodec {
  if (codec === undefined) return voidCodec;
  let made = known.get(codec);
  if (made === undefined) {
    const { fingerprint, name } = codec;
    made = {
      ...{ fingerprint, name },
      encode: (value, what) => {
        try {
          return codec.encode(value);
        } catch (cause) {
          throw new TypeError(`${what}: ${(cause as Error).message}`, { cause });
        }
      },
      decode: (bytes) => codec.decode(bytes),
    };
    known.set(codec, made);
  }
  return made;
}
