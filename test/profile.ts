/**
 * How long property tests and fuzzers try: `npm run verify` is short, `npm run verify:full` long. Set by
 * VICEROY_TEST_PROFILE.
 *
 * A test that fails at random prints what repeats it: fast-check its seed and counterexample, `withRandom` of random.ts its seed. Each
 * counterexample that is ever found stays as a test of its own beside the property, with fixed values.
 */
import fc from "fast-check";

/**
 * Whether tests judge mutants. They run once for each of them, so they try fewer cases, and always the same ones: no mutant
 * survives by chance that was killed before.
 */
export const isMutationRun = process.env["VICEROY_MUTATION_TESTS"] !== undefined;
if (isMutationRun) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 1 });

/** @returns how many cases to try: `short`, or, in the long profile, `long` (20 times as many if not said) */
export function cases(short: number, long = 20 * short): number {
  if (isMutationRun) return Math.max(1, Math.min(short, 20));
  return process.env["VICEROY_TEST_PROFILE"] === "long" ? long : short;
}

/** @returns after how many milliseconds a property that is slow on a busy machine stops trying: `short`, or `long` */
export function timeLimit(short: number, long: number): number {
  return process.env["VICEROY_TEST_PROFILE"] === "long" ? long : short;
}

/** For properties whose runs could wait for ever: one that does fails with its seed, and is not made smaller. */
export const mayHang = { timeout: 20_000, endOnFailure: true };
