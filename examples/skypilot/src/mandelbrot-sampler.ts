import { context } from "viceroy";
import { type Sample, SamplerActor } from "../generated/sampler.js";

/** The rectangle from which points are taken: it contains the set. */
export const rectangle = { left: -2, right: 0.5, bottom: -1.25, top: 1.25 };

/** A point that is not far away after this number of steps counts as one of the set. */
const steps = 200;

export class MandelbrotSampler extends SamplerActor {
  sample(round: number, points: number): Sample {
    const random = randomNumbers(1000 * round + context().actor.rank.rank);
    const { left, right, bottom, top } = rectangle;
    let inside = 0;
    for (let i = 0; i < points; i++) {
      if (isInside(left + (right - left) * random(), bottom + (top - bottom) * random())) inside++;
    }
    return { host: `${process.env.VICEROY_JOB_MESH}[${process.env.VICEROY_JOB_RANK}]`, inside };
  }
}

function isInside(x: number, y: number): boolean {
  let [a, b] = [0, 0];
  for (let i = 0; i < steps; i++) {
    [a, b] = [a * a - b * b + x, 2 * a * b + y];
    if (a * a + b * b > 4) return false;
  }
  return true;
}

/** The generator mulberry32, so that a run can be repeated. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
