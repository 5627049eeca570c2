/** Modules: their state, its initial values, and the results of layers, compared with plain arithmetic. */
import { expect, test } from "vitest";
import { manualSeed, nn, type Tensor, TensorScope, tensor, tensorMemory, torch } from "../../runtime/tensor/index.js";
import { describeTensors } from "./addon.js";

class Block extends nn.Module {
  readonly norm = new nn.LayerNorm(4);
  readonly gate = nn.parameter(torch.zeros([1]));

  forward(x: Tensor): Tensor {
    return this.norm.forward(x).mul(this.gate).add(x);
  }
}

class Model extends nn.Module {
  readonly embedding = new nn.Embedding(7, 4);
  readonly blocks = [new Block(), new Block()];
  readonly heads = { first: new nn.Linear(4, 7, { bias: false }), other: new nn.Linear(4, 2) };
  readonly steps = nn.buffer(tensor([0n]));
  readonly cached = tensor([1]);
  readonly sizes = [1, 2, 3];
  readonly name = "model";

  forward(indices: Tensor): Tensor {
    return this.heads.first.forward(
      this.blocks.reduce((x, block) => block.forward(x), this.embedding.forward(indices)),
    );
  }
}

const blockNames = (i: number) => [`blocks.${i}.norm.weight`, `blocks.${i}.norm.bias`, `blocks.${i}.gate`];
const parameterNames = [
  "embedding.weight",
  ...blockNames(0),
  ...blockNames(1),
  "heads.first.weight",
  "heads.other.weight",
  "heads.other.bias",
];

const numbers = (of: Tensor) => [...of.detach().to("float64").data<"float64">()];
const close = (got: Tensor, expected: readonly number[]) => {
  const all = numbers(got);
  expect(all.length).toBe(expected.length);
  for (const [i, value] of all.entries()) expect(value).toBeCloseTo(expected[i]!, 5);
};

// This test runs first in its process, so that no garbage of other tests is collected during it.
describeTensors("memory of a module", () => {
  test("is freed completely by dispose, and gradients are freed by zeroGrad", () => {
    const before = tensorMemory().live;
    {
      using model = new nn.Sequential(
        new nn.Linear(64, 64),
        torch.gelu,
        new nn.MultiHeadAttention(64, 4),
        new nn.LayerNorm(64),
      );
      const trained = tensorMemory().live;
      {
        using _ = new TensorScope();
        model
          .forward(torch.ones([2, 3, 64]))
          .sum()
          .backward();
      }
      expect(tensorMemory().live).toBeGreaterThan(trained);
      model.zeroGrad();
      expect(tensorMemory().live).toBe(trained);
    }
    expect(tensorMemory().live).toBe(before);
  });
});

describeTensors("the state of a module", () => {
  test("has names made of the path: properties, arrays, objects", () => {
    const model = new Model();
    expect(model.namedParameters().map(([name]) => name)).toEqual(parameterNames);
    expect(Object.keys(model.stateDict())).toEqual([...parameterNames, "steps"]);
    expect(model.parameters().every((one) => one.requiresGrad)).toBe(true);
    expect(model.stateDict()["blocks.1.gate"]).toBe(model.blocks[1]!.gate);
    expect(model.modules().map((one) => one.constructor.name)).toEqual([
      "Model",
      "Embedding",
      "Block",
      "LayerNorm",
      "Block",
      "LayerNorm",
      "Linear",
      "Linear",
    ]);
  });

  test("lists a tensor with two names twice, but has one parameter for that tensor", () => {
    class Tied extends nn.Module {
      readonly embedding = new nn.Embedding(3, 2);
      readonly head = this.embedding.weight;
    }
    const tied = new Tied();
    expect(tied.namedParameters().map(([name]) => name)).toEqual(["embedding.weight"]);
    expect(Object.keys(tied.stateDict())).toEqual(["embedding.weight", "head"]);
  });

  test("contains frozen parameters", () => {
    const layer = new nn.Linear(2, 2);
    layer.weight.requiresGrad = false;
    expect(layer.namedParameters().map(([name]) => name)).toEqual(["weight", "bias"]);
  });

  test("refuses circular modules and duplicate names", () => {
    class Loop extends nn.Module {
      readonly inner = { around: this };
    }
    expect(() => new Loop().parameters()).toThrow("cannot walk through Loop: inner.around leads back into itself");
    class Twice extends nn.Module {
      readonly a = { b: nn.parameter(torch.zeros([1])) };
      readonly "a.b" = nn.parameter(torch.zeros([1]));
    }
    expect(() => new Twice().stateDict()).toThrow("cannot name the state of Twice: two tensors are called a.b");
  });

  test("is loaded by copying, also from another dtype", () => {
    const [one, other] = [new Model(), new Model()];
    const before = one.embedding.weight;
    one.loadStateDict(other.stateDict());
    expect(one.embedding.weight).toBe(before);
    expect(before.requiresGrad).toBe(true);
    const indices = tensor([1n, 6n]);
    expect(one.forward(indices).toArray()).toEqual(other.forward(indices).toArray());
    const layer = new nn.Linear(1, 1);
    layer.loadStateDict({ weight: torch.full([1, 1], 0.5, { dtype: "float64" }), bias: tensor([2]).to("bfloat16") });
    expect([layer.weight.toArray(), layer.bias!.toArray()]).toEqual([[[0.5]], [2]]);
  });

  test("is loaded completely or not at all, and the error lists all mismatches", () => {
    const layer = new nn.Sequential(new nn.Linear(2, 2), new nn.LayerNorm(2));
    const before = layer.stateDict()["1.weight"]!.toArray();
    const state = {
      "0.bias": tensor([1, 2, 3]),
      "1.weight": tensor([5, 5]),
      "1.bias": tensor([1n, 2n]),
      "2.bias": tensor([1]),
    };
    expect(() => layer.loadStateDict(state)).toThrow(
      'cannot load the state of Sequential: "0.weight" is missing; "0.bias" is float32[3], expected float32[2]; ' +
        '"1.bias" is int64[2], expected float32[2]; "2.bias" is not known',
    );
    expect(layer.stateDict()["1.weight"]!.toArray()).toEqual(before);
    layer.loadStateDict({ "1.weight": tensor([5, 5]), "9.weight": tensor([1]) }, { strict: false });
    expect(layer.stateDict()["1.weight"]!.toArray()).toEqual([5, 5]);
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`x${i}`, tensor(1)]));
    expect(() => layer.loadStateDict(many)).toThrow(/"x3" is not known; and 16 more$/);
    // An inherited property of an object does not count as state.
    expect(() => new nn.Linear(1, 1, { bias: false }).loadStateDict({})).toThrow('"weight" is missing');
  });

  test("can be switched to evaluation and back as a whole", () => {
    const model = new Model();
    expect(model.eval()).toBe(model);
    expect(model.modules().map(({ training }) => training)).toEqual(Array(8).fill(false));
    expect(
      model
        .train()
        .modules()
        .every(({ training }) => training),
    ).toBe(true);
  });
});

describeTensors("the initial parameters", () => {
  test.each([
    ["Linear", () => new nn.Linear(16, 300).weight, 1 / 4],
    ["the bias of Linear", () => new nn.Linear(16, 300).bias!, 1 / 4],
    ["MultiHeadAttention", () => new nn.MultiHeadAttention(24, 2).in_proj_weight, 1 / 4],
    ["the output of MultiHeadAttention", () => new nn.MultiHeadAttention(16, 2).out_proj.weight, 1 / 4],
  ])("are uniform in %s", (_, make, bound) => {
    manualSeed(1);
    const all = numbers(make());
    expect(Math.max(...all.map(Math.abs))).toBeLessThanOrEqual(bound);
    expect(Math.max(...all)).toBeGreaterThan(bound * 0.95);
    expect(Math.min(...all)).toBeLessThan(-bound * 0.95);
    const deviation = Math.sqrt(all.reduce((sum, value) => sum + value * value, 0) / all.length);
    expect(deviation / bound).toBeCloseTo(1 / Math.sqrt(3), 1);
  });

  test("are normal in Embedding, and ones and zeros in other layers", () => {
    manualSeed(1);
    const { weight } = new nn.Embedding(100, 100);
    expect(Number(weight.mean().item())).toBeCloseTo(0, 1);
    expect(Number(weight.std().item())).toBeCloseTo(1, 1);
    const norm = new nn.LayerNorm([2, 2]);
    expect([numbers(norm.weight), numbers(norm.bias)]).toEqual([Array(4).fill(1), Array(4).fill(0)]);
    const attention = new nn.MultiHeadAttention(2, 1);
    expect([numbers(attention.in_proj_bias!), numbers(attention.out_proj.bias!)]).toEqual([Array(6).fill(0), [0, 0]]);
  });

  test("are the same for the same seed, and have the requested dtype", () => {
    const make = (seed: number) => {
      manualSeed(seed);
      return numbers(new nn.Linear(3, 3).weight);
    };
    expect(make(5)).toEqual(make(5));
    expect(make(6)).not.toEqual(make(5));
    expect(new nn.Linear(3, 3, { dtype: "float64" }).parameters().map(({ dtype }) => dtype)).toEqual([
      "float64",
      "float64",
    ]);
  });

  test("are refused for invalid sizes", () => {
    expect(() => new nn.Linear(0, 1)).toThrow("cannot make Linear: inputs must be an integer from 1 on, got 0");
    expect(() => new nn.Embedding(1, 1.5)).toThrow(
      "cannot make Embedding: width must be an integer from 1 on, got 1.5",
    );
    expect(() => new nn.LayerNorm([2, -1])).toThrow("cannot make LayerNorm: size must be an integer from 1 on, got -1");
    expect(() => new nn.MultiHeadAttention(10, 3)).toThrow(
      "cannot make MultiHeadAttention: width 10 cannot be shared among 3 heads",
    );
    expect(() => new nn.Dropout(1.5)).toThrow(
      "cannot make Dropout: dropout must be a probability from 0 to 1, got 1.5",
    );
    expect(() => new nn.MultiHeadAttention(4, 2, { dropout: Number.NaN })).toThrow("from 0 to 1, got NaN");
  });
});

describeTensors("layers", () => {
  test("Linear computes products with the rows of its weight", () => {
    const layer = new nn.Linear(2, 3);
    const [w, b] = [numbers(layer.weight), numbers(layer.bias!)];
    const expected = [0, 1, 2].map((i) => 5 * w[2 * i]! - 7 * w[2 * i + 1]! + b[i]!);
    const got = layer.forward(tensor([[[5, -7]]]));
    expect(got.shape).toEqual([1, 1, 3]);
    close(got, expected);
    const plain = new nn.Linear(2, 3, { bias: false });
    expect(plain.bias).toBeNull();
    close(
      plain.forward(tensor([1, 0])),
      [0, 2, 4].map((i) => numbers(plain.weight)[i]!),
    );
  });

  test("Embedding returns rows of its weight", () => {
    const layer = new nn.Embedding(5, 2);
    const rows = layer.weight.toArray() as number[][];
    expect(layer.forward(tensor([[4n, 0n, 4n]])).toArray()).toEqual([[rows[4], rows[0], rows[4]]]);
  });

  test("LayerNorm normalizes to mean 0 and variance 1, then scales and shifts", () => {
    const layer = new nn.LayerNorm(3, { eps: 0.5 });
    layer.loadStateDict({ weight: tensor([1, 2, 3]), bias: tensor([0, 10, 20]) });
    const root = Math.sqrt(2 / 3 + 0.5);
    close(layer.forward(tensor([4, 5, 6])), [-1 / root, 10, 20 + 3 / root]);
  });

  test("Dropout zeroes and scales elements in training, and changes nothing in evaluation", () => {
    const layer = new nn.Dropout(0.25);
    const x = torch.ones([10_000]);
    manualSeed(3);
    const all = numbers(layer.forward(x));
    const zeros = all.filter((value) => value === 0).length;
    expect(zeros / all.length).toBeCloseTo(0.25, 1);
    for (const value of all.filter((one) => one !== 0)) expect(value).toBeCloseTo(4 / 3, 5);
    expect(layer.eval().forward(x)).toBe(x);
    expect(new nn.Dropout(0).forward(x)).toBe(x);
    expect(numbers(new nn.Dropout(1).forward(x)).every((value) => value === 0)).toBe(true);
  });

  test("Sequential applies modules and functions one after another", () => {
    const [first, last] = [new nn.Linear(2, 4), new nn.Linear(4, 1)];
    const all = new nn.Sequential(first, torch.relu, (x) => x.mul(2), last);
    expect(Object.keys(all.stateDict())).toEqual(["0.weight", "0.bias", "3.weight", "3.bias"]);
    const x = tensor([[1, -2]]);
    expect(all.forward(x).toArray()).toEqual(last.forward(first.forward(x).relu().mul(2)).toArray());
    // @ts-expect-error it has no forward
    expect(() => new nn.Sequential(new (class extends nn.Module {})()).forward(x)).toThrow(TypeError);
  });
});
