/** The codecs of schemas, as those of arguments and results. */
import type { Codec } from "../codegen/v1/index.js";
import type { ValueCodec } from "./refs/value-codec.js";
import type { PlainPlace } from "./values/index.js";

const known = new WeakMap<Codec<unknown>, ValueCodec>();
const nothing = new Uint8Array(0);

/** A task that returns nothing. */
const voidCodec: ValueCodec = {
  fingerprint: 0n,
  name: "void",
  encode: () => nothing,
  decode: () => undefined,
};

/**
 * Returns the codec of a type of a schema; undefined is `void`. No bytes stand for an optional argument that is absent, because
 * a message is never empty.
 */
export function schemaCodec(codec: Codec<unknown> | undefined): ValueCodec {
  if (codec === undefined) return voidCodec;
  let made = known.get(codec);
  if (made === undefined) {
    const { fingerprint, name } = codec;
    made = {
      ...{ fingerprint, name },
      encode: (value, place) => {
        if (value === undefined && place.kind === "argument") return nothing;
        try {
          return codec.encode(value);
        } catch (cause) {
          throw new TypeError(`${describePlace(place)}: ${(cause as Error).message}`, { cause });
        }
      },
      decode: (bytes) => (bytes.length === 0 ? undefined : codec.decode(bytes)),
    };
    known.set(codec, made);
  }
  return made;
}

function describePlace(place: PlainPlace): string {
  if (place.kind === "argument") return `cannot run ${place.task}: argument ${place.index + 1}`;
  return place.kind === "result" ? `cannot return from ${place.task}: the result` : "cannot put a value";
}
