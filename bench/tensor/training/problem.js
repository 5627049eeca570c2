/**
 * What is learned, the same for all that train it: sizes as JSON, and beside it 32-bit floats: weight and bias of each layer, then for
 * each rank all its rows, then for each rank the class of each row, which a linear teacher has given.
 */
import { writeFileSync } from "node:fs";

/** Rows of a step on each rank, steps after which they are the same again, ranks. */
const [batch, batches, ranks] = [64, 16, 2];

/** @returns the file with the sizes */
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

/** Numbers within ±bound, from a generator of 31 bits (Park and Miller, 1988): the same on every machine. */
function uniformFrom(seed) {
  let state = seed;
  return (length, bound) =>
    Float32Array.from({ length }, () => {
      state = (state * 48271) % 0x7fffffff;
      return bound * ((2 * state) / 0x7fffffff - 1);
    });
}
