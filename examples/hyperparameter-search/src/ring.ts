/** The data: points of a square, of which some are in a ring. */
import { randomFrom } from "./random.js";

export interface Points {
  readonly size: number;
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** 1 for points in the ring, and -1 for others. */
  readonly label: Float64Array;
}

function pointsOf(seed: number, size: number): Points {
  const random = randomFrom(seed);
  const [x, y, label] = [new Float64Array(size), new Float64Array(size), new Float64Array(size)];
  for (let i = 0; i < size; i++) {
    x[i] = 2 * random() - 1;
    y[i] = 2 * random() - 1;
    const radius = Math.sqrt(x[i]! ** 2 + y[i]! ** 2);
    label[i] = radius > 0.4 && radius < 0.85 ? 1 : -1;
  }
  return { size, x, y, label };
}

export const training = pointsOf(1, 1000);
export const validation = pointsOf(2, 500);
