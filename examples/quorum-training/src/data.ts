/** Points of a space, of which a model learns a rule. Batches follow from the step and the replica, so that every run sees the same data. */

/** The number of weights: one for each input, and the bias. */
export const weightCount = 33;
export const learningRate = 0.5;
/** The number of samples of a batch. */
const batchSize = 64;

/** Yields numbers from -1 to 1 that follow from a seed (mulberry32). */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed >>> 0; ; ) {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    yield ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 31 - 1;
  }
}

const secret = numbers(7);
const rule = Float32Array.from({ length: weightCount }, () => secret.next().value);

export interface Batch {
  /** The inputs of each sample, one sample after the other. The last input is 1, for the bias. */
  readonly inputs: Float32Array;
  /** The label of each sample, 0 or 1. */
  readonly labels: Float32Array;
}

/** Returns the batch of a replica at a step. */
export function batchOf(replica: number, step: number): Batch {
  const random = numbers(1000 * step + replica);
  const inputs = new Float32Array(batchSize * weightCount);
  const labels = new Float32Array(batchSize);
  for (let sample = 0; sample < batchSize; sample++) {
    const own = inputs.subarray(sample * weightCount, (sample + 1) * weightCount);
    for (let i = 0; i < weightCount; i++) own[i] = i === weightCount - 1 ? 1 : random.next().value;
    labels[sample] = own.reduce((sum, input, i) => sum + input * rule[i]!, 0) > 0 ? 1 : 0;
  }
  return { inputs, labels };
}
