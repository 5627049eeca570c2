/** Attention, compared with a computation of numbers one by one. */
import { expect, test } from "vitest";
import { manualSeed, nn, type Tensor, TensorScope, torch } from "../../runtime/tensor/index.js";
import { describeTensors } from "./addon.js";

type Matrix = readonly (readonly number[])[];

const columns = (m: Matrix) => m[0]!.map((_, j) => m.map((row) => row[j]!));
const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, value, i) => sum + value * b[i]!, 0);
/** `x · weightᵀ + bias` */
const linear = (x: Matrix, weight: Matrix, bias: readonly number[]) =>
  x.map((row) => weight.map((w, i) => dot(row, w) + bias[i]!));

function softmax(values: readonly number[]): number[] {
  const powers = values.map(Math.exp);
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

/** Computes attention for one element of a batch. */
function plain(layer: nn.MultiHeadAttention, query: Matrix, key: Matrix, value: Matrix): Matrix {
  const { width, heads, causal } = layer;
  const weight = layer.in_proj_weight.toArray() as number[][];
  const bias = (layer.in_proj_bias?.toArray() ?? Array(3 * width).fill(0)) as number[];
  const part = (x: Matrix, i: number) =>
    linear(x, weight.slice(i * width, (i + 1) * width), bias.slice(i * width, (i + 1) * width));
  const [q, k, v] = [part(query, 0), part(key, 1), part(value, 2)];
  const size = width / heads;
  const attended = q.map((row, i) =>
    Array.from({ length: heads }, (_, head) => {
      const own = (one: readonly number[]) => one.slice(head * size, (head + 1) * size);
      const seen = causal ? i + 1 : k.length;
      const weights = softmax(k.slice(0, seen).map((other) => dot(own(row), own(other)) / Math.sqrt(size)));
      return columns(v.slice(0, seen).map(own)).map((column) => dot(weights, column));
    }).flat(),
  );
  const last = (layer.out_proj.bias?.toArray() ?? Array(width).fill(0)) as number[];
  return linear(attended, layer.out_proj.weight.toArray() as number[][], last);
}

function expectClose(got: Tensor, expected: Matrix[]): void {
  expect(got.shape).toEqual([expected.length, expected[0]!.length, expected[0]![0]!.length]);
  const flat = expected.flat(2);
  for (const [i, value] of [...got.detach().data<"float64">()].entries()) expect(value).toBeCloseTo(flat[i]!, 10);
}

const random = (...shape: number[]) => torch.randn(shape, { dtype: "float64" });
const matrices = (of: Tensor) => of.toArray() as unknown as Matrix[];

describeTensors("MultiHeadAttention", () => {
  test.each([
    { causal: false, bias: true },
    { causal: true, bias: true },
    { causal: true, bias: false },
  ])("computes self-attention with causal: $causal, bias: $bias", (options) => {
    manualSeed(4);
    const layer = new nn.MultiHeadAttention(6, 3, { ...options, dtype: "float64" });
    for (const one of layer.parameters()) one.detach().normal_();
    const x = random(2, 5, 6);
    expectClose(
      layer.forward(x),
      matrices(x).map((one) => plain(layer, one, one, one)),
    );
  });

  test.each([true, false])("computes attention of one sequence to others with bias: %s", (bias) => {
    manualSeed(5);
    const layer = new nn.MultiHeadAttention(4, 2, { bias, dtype: "float64" });
    for (const one of layer.parameters()) one.detach().normal_();
    const [query, key, value] = [random(2, 3, 4), random(2, 5, 4), random(2, 5, 4)];
    const [q, k, v] = [query, key, value].map(matrices) as [Matrix[], Matrix[], Matrix[]];
    expectClose(
      layer.forward(query, key, value),
      q.map((one, i) => plain(layer, one, k[i]!, v[i]!)),
    );
    expectClose(
      layer.forward(query, key),
      q.map((one, i) => plain(layer, one, k[i]!, k[i]!)),
    );
  });

  test("ignores later positions if it is causal", () => {
    const layer = new nn.MultiHeadAttention(4, 2, { causal: true });
    const x = torch.randn([1, 6, 4]);
    const changed = x.clone();
    changed.narrow(1, 4, 2).add_(1);
    const [before, after] = [x, changed].map((one) => layer.forward(one).narrow(1, 0, 4));
    expect(after!.toArray()).toEqual(before!.toArray());
    expect(layer.forward(changed).toArray()).not.toEqual(layer.forward(x).toArray());
  });

  test("applies dropout only in training", () => {
    const layer = new nn.MultiHeadAttention(4, 2, { dropout: 0.5 });
    const x = torch.randn([1, 6, 4]);
    expect(layer.forward(x).toArray()).not.toEqual(layer.forward(x).toArray());
    layer.eval();
    expect(layer.forward(x).toArray()).toEqual(layer.forward(x).toArray());
  });

  test("leaves no tensor in the scope except its result", () => {
    const layer = new nn.MultiHeadAttention(4, 2, { causal: true });
    const x = torch.randn([1, 6, 4]);
    using scope = new TensorScope();
    layer.forward(x);
    expect(scope.size).toBe(1);
  });
});
