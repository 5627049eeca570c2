/** Codecs of generic types: functions from codecs to a codec, which give the same one for the same arguments. */
import type { Codec } from "../codec.js";
import { sha64 } from "../sha256.js";
import { hex } from "./base.js";

type Factory = (...args: readonly Codec<never>[]) => Codec<unknown>;

/**
 * Makes `factory` remember its codecs, so that a generic type may contain itself. They get the fingerprint that the
 * compiler gives to an application of the generic type, whose own one is `fingerprint`.
 */
export function generic<F extends Factory>(fingerprint: bigint, factory: F): F {
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
    Object.defineProperty(made, "fingerprint", { get: () => applied(fingerprint, args) });
    level.set(last, made);
    return made;
  };
  return memoized as F;
}

function applied(fingerprint: bigint, args: readonly Codec<unknown>[]): bigint {
  return sha64(`apply(${[fingerprint.toString(16).padStart(16, "0"), ...args.map(hex)].join(",")})`);
}
