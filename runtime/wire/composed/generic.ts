/** Codecs of generic types: functions that return a codec for the codecs of the type arguments. */
import type { Codec } from "../codec.js";
import { sha256First64 } from "../fingerprint.js";
import { fingerprintHex } from "./composed-codec.js";

type CodecFactory = (...args: readonly Codec<never>[]) => Codec<unknown>;

/**
 * Makes a function that returns codecs of a generic type. The function returns the same codec for the same arguments,
 * so that a generic type can contain itself.
 *
 * @param fingerprint of the generic type; the fingerprint of each codec is derived from it and the fingerprints of the arguments
 * @param factory makes the codec for given type arguments
 */
export function generic<F extends CodecFactory>(fingerprint: bigint, factory: F): F {
  const known = new WeakMap<object, WeakMap<object, unknown>>();
  const memoized = (...args: readonly Codec<never>[]): Codec<unknown> => {
    let level = known as WeakMap<object, unknown>;
    for (const arg of args.slice(0, -1)) {
      level = (level.get(arg) ?? level.set(arg, new WeakMap()).get(arg)) as WeakMap<object, unknown>;
    }
    const last = args.at(-1) ?? memoized;
    const existing = level.get(last);
    if (existing !== undefined) return existing as Codec<unknown>;
    const made = factory(...args);
    Object.defineProperty(made, "fingerprint", { get: () => appliedFingerprint(fingerprint, args) });
    level.set(last, made);
    return made;
  };
  return memoized as F;
}

function appliedFingerprint(fingerprint: bigint, args: readonly Codec<unknown>[]): bigint {
  return sha256First64(`apply(${[fingerprint.toString(16).padStart(16, "0"), ...args.map(fingerprintHex)].join(",")})`);
}
