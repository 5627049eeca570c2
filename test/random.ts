/**
 * Random numbers for tests that draw them by hand. Whoever sees such a test fail can repeat it: its error names the seed, and the variable
 * VICEROY_SEED sets it.
 */

/** A source of numbers in [0, 1): the same for the same seed. After Sebastiano Vigna, SplitMix32. */
export function randomNumbers(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return ((z ^ (z >>> 16)) >>> 0) / 2 ** 32;
  };
}

/** @returns an integer from 0 to `below`, excluded */
export type Random = (below: number) => number;

/** Runs a part of a test with random numbers of its own. What it throws, or rejects with, is thrown again with the seed in front. */
export async function withRandom(run: (random: Random) => unknown): Promise<void> {
  const seed = Number(process.env["VICEROY_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
  const numbers = randomNumbers(seed);
  try {
    await run((below) => Math.floor(numbers() * below));
  } catch (error) {
    throw new Error(`with VICEROY_SEED=${seed}: ${(error as Error).message}`, { cause: error });
  }
}
