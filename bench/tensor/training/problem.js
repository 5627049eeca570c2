/**
 * Writes the training problem, which is equal for all subjects: a JSON file with sizes, and a file of 32-bit floats with the weight and
 * bias of each layer, then the rows of each rank, then the class of each row of each rank, which a linear teacher determines.
 */
import { writeFileSync } from "node:fs";

/** Rows per step and rank, steps after which the rows repeat, and number of ranks. */
const [batch, batches, ranks] = [64, 16, 2];

/** @returns the path of the JSON file */
export function writeProblem(folder, { layers, optimizer }) {
  const name = `${folder}/${layers.join("-")}-${optimizer}`;
  const uniform = uniformFrom(1);
  const floats = [];
  for (let i = 1; i < layers.length; i++) {
    const bound = 1 / Math.sqrt(layers[i - 1]);
    floats.push(uniform(layers[i] * layers[i - 1], bound), uniform(layers[i], bound));
  }
  const [inputs, classes] = [layers[0], layers.at(-1)];
  const rows = uniform(ranks * batches * batch * inputs, 1);
  const teacher = uniform(inputs * classes, 1);
  floats.push(rows, classesOf(rows, teacher, classes));
  writeFileSync(`${name}.f32`, Buffer.concat(floats.map(({ buffer }) => Buffer.from(buffer))));
  writeFileSync(`${name}.json`, JSON.stringify({ layers, optimizer, batch, batches, ranks, floats: `${name}.f32` }));
  return `${name}.json`;
}

function classesOf(rows, teacher, classes) {
  const inputs = teacher.length / classes;
  return Float32Array.from({ length: rows.length / inputs }, (_, row) => {
    const scores = new Float64Array(classes);
    for (let i = 0; i < inputs; i++) {
      for (let c = 0; c < classes; c++) scores[c] += rows[row * inputs + i] * teacher[i * classes + c];
    }
    return scores.indexOf(Math.max(...scores));
  });
}

/** Returns numbers within ±bound from a 31-bit generator (Park and Miller, 1988), equal on every machine. */
function uniformFrom(seed) {
  let state = seed;
  return (length, bound) =>
    Float32Array.from({ length }, () => {
      state = (state * 48271) % 0x7fffffff;
      return bound * ((2 * state) / 0x7fffffff - 1);
    });
}
