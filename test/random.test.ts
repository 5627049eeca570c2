import { expect, test } from "vitest";
import { withRandom } from "./random.js";

test("a test with random numbers that fails says how to repeat it", async () => {
  const numbers: number[] = [];
  const failing = withRandom((random) => {
    numbers.push(random(1000), random(1000));
    throw new RangeError("case 2 is wrong");
  });
  const error = (await failing.then(undefined, (reason) => reason)) as Error;
  const [, seed] = /^with VICEROY_SEED=(\d+): case 2 is wrong$/.exec(error.message)!;
  expect(error.cause).toBeInstanceOf(RangeError);
  process.env["VICEROY_SEED"] = seed;
  try {
    await withRandom((random) => expect([random(1000), random(1000)]).toEqual(numbers));
  } finally {
    delete process.env["VICEROY_SEED"];
  }
});
