/** The codecs of schemas, as those of arguments and results. */
import type { Codec } from "../codegen/v1/index.js";
import type { ValueCodec } from "./refs/value-codec.js";
import type { PlainPlace } from "./values/index.js";

const required = new WeakMap<Codec<unknown>, ValueCodec>();
const optional = new WeakMap<Codec<unknown>, ValueCodec>();
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
  let made = required.get(codec);
  if (made === undefined) {
    made = {
      fingerprint: codec.fingerprint,
      name: codec.name,
      encode: (value, place) => {
        try {
          return codec.encode(value);
        } catch (cause) {
          throw new TypeError(`${describePlace(place)}: ${(cause as Error).message}`, { cause });
        }
      },
      decode: (bytes) => codec.decode(bytes),
    };
    required.set(codec, made);
  }
  return made;
}

/**
 * Returns the codec of an optional argument. No bytes stand for an argument that is absent, because a message is never
 * empty.
 */
export function optionalCodec(codec: Codec<unknown>): ValueCodec {
  let made = optional.get(codec);
  if (made === undefined) {
    const present = schemaCodec(codec);
    made = {
      ...present,
      encode: (value, place) => (value === undefined ? nothing : present.encode(value, place)),
      decode: (bytes) => (bytes.length === 0 ? undefined : present.decode(bytes)),
    };
    optional.set(codec, made);
  }
  return made;
}

function describePlace(place: PlainPlace): string {
  if (place.kind === "argument") return `cannot run ${place.task}: argument ${place.index + 1}`;
  return place.kind === "result" ? `cannot return from ${place.task}: the result` : "cannot put a value";
}
