/** A network with one hidden layer, in plain arrays. It uses only arithmetic that is exact to the bit on every machine. */
import type { Model, Settings } from "../generated/search.js";
import { randomFrom } from "./random.js";
import { type Points, training, validation } from "./ring.js";

export function createNetwork({ hidden }: Settings): Model {
  const random = randomFrom(3);
  const weights = Float64Array.from({ length: 4 * hidden + 1 }, () => 4 * random() - 2);
  return measured(weights, new Float64Array(weights.length), 0);
}

/** Makes one step of gradient descent for each point of the training set, in each epoch. */
export function trainNetwork(settings: Settings, model: Model, epochs: number): Model {
  const weights = model.weights.slice();
  const velocity = model.velocity.slice();
  for (let epoch = 0; epoch < epochs; epoch++) {
    for (let i = 0; i < training.size; i++) step(settings, weights, velocity, training, i);
  }
  return measured(weights, velocity, model.epochs + epochs);
}

function step({ rate, momentum }: Settings, w: Float64Array, v: Float64Array, data: Points, i: number): void {
  const [x, y] = [data.x[i]!, data.y[i]!];
  const slope = 2 * (outputOf(w, x, y) - data.label[i]!);
  const last = w.length - 1;
  const move = (at: number, gradient: number): void => {
    v[at] = momentum * v[at]! - rate * gradient;
    w[at]! += v[at]!;
  };
  for (let unit = 0; unit < last; unit += 4) {
    const sum = w[unit]! * x + w[unit + 1]! * y + w[unit + 2]!;
    const inverse = 1 / (1 + Math.abs(sum));
    const inner = slope * w[unit + 3]! * inverse * inverse;
    move(unit + 3, slope * sum * inverse);
    move(unit, inner * x);
    move(unit + 1, inner * y);
    move(unit + 2, inner);
  }
  move(last, slope);
}

/** The activation is softsign: x / (1 + |x|). */
function outputOf(w: Float64Array, x: number, y: number): number {
  let output = w[w.length - 1]!;
  for (let unit = 0; unit < w.length - 1; unit += 4) {
    const sum = w[unit]! * x + w[unit + 1]! * y + w[unit + 2]!;
    output += (w[unit + 3]! * sum) / (1 + Math.abs(sum));
  }
  return output;
}

function measured(weights: Float64Array, velocity: Float64Array, epochs: number): Model {
  let [loss, correct] = [0, 0];
  for (let i = 0; i < validation.size; i++) {
    const output = outputOf(weights, validation.x[i]!, validation.y[i]!);
    const label = validation.label[i]!;
    loss += (output - label) ** 2 / validation.size;
    if (output * label > 0) correct++;
  }
  // A network whose weights have grown without bound is worse than any other.
  if (!Number.isFinite(loss)) loss = Number.MAX_VALUE;
  return { epochs, weights, velocity, loss, accuracy: correct / validation.size };
}
