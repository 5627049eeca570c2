/** Points of the plane of which a model learns a rule: batches follow from the step and the replica, so that every run is the same. */

/** The number of weights: one for each input, and the bias. */
export const weights = 33;
const batch = 64;

/** Numbers from -1 to 1 that follow from a seed (mulberry32). */
export function* numbers(seed: number): Generator<number, never> {
  for (let state = seed >>> 0; ; ) {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    yield ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 31 - 1;
  }
}

const secret = numbers(7);
const rule = Float32Array.from({ length: weights }, () => secret.next().value);

export interface Sample {
  /** The inputs, and 1 for the bias. */
  readonly inputs: Float32Array;
  readonly label: 0 | 1;
}

/** Returns the batch of a replica at a step. */
export function batchOf(replica: number, step: number): Sample[] {
  const random = numbers(1000 * step + replica);
  return Array.from({ length: batch }, () => {
    const inputs = Float32Array.from({ length: weights }, (_, i) => (i === weights - 1 ? 1 : random.next().value));
    const label = inputs.reduce((sum, input, i) => sum + input * rule[i]!, 0) > 0 ? 1 : 0;
    return { inputs, label };
  });
}
