/** Optimizers, compared step by step with their formulas in plain numbers. */
import { expect, test } from "vitest";
import {
  manualSeed,
  nn,
  optim,
  type Tensor,
  TensorScope,
  tensor,
  tensorMemory,
  torch,
} from "../../runtime/tensor/index.js";
import { describeTensors } from "./addon.js";
import { RecorderAndWorker } from "./recorder-and-worker.js";

/** Returns a number after one step with its gradient. */
interface Rule {
  step(parameter: number, gradient: number, lr: number): number;
}

function sgd({ momentum = 0, nesterov = false, weightDecay = 0 }: Partial<optim.SGDOptions>): Rule {
  let velocity: number | undefined;
  return {
    step(parameter, gradient, lr) {
      const decayed = gradient + weightDecay * parameter;
      velocity = velocity === undefined ? decayed : momentum * velocity + decayed;
      return parameter - lr * (nesterov ? decayed + momentum * velocity : momentum === 0 ? decayed : velocity);
    },
  };
}

function adam(
  { betas: [beta1, beta2] = [0.9, 0.999], eps = 1e-8, weightDecay = 0 }: optim.AdamOptions,
  decoupled: boolean,
): Rule {
  let [mean, square, steps] = [0, 0, 0];
  return {
    step(parameter, gradient, lr) {
      steps++;
      const before = decoupled ? parameter * (1 - lr * weightDecay) : parameter;
      const g = decoupled ? gradient : gradient + weightDecay * parameter;
      mean = beta1 * mean + (1 - beta1) * g;
      square = beta2 * square + (1 - beta2) * g * g;
      return before - (lr * (mean / (1 - beta1 ** steps))) / (Math.sqrt(square / (1 - beta2 ** steps)) + eps);
    },
  };
}

type Parameters = readonly Tensor[];
const cases: [string, (of: Parameters, lr: number) => optim.Optimizer, () => Rule][] = [
  ...[
    {},
    { weightDecay: 0.1 },
    { momentum: 0.9 },
    { momentum: 0.8, weightDecay: 0.2 },
    { momentum: 0.9, nesterov: true, weightDecay: 0.1 },
    { momentum: 1 },
  ].map((options): (typeof cases)[number] => [
    `SGD ${JSON.stringify(options)}`,
    (of, lr) => new optim.SGD(of, { lr, ...options }),
    () => sgd(options),
  ]),
  ...[{}, { betas: [0.5, 0.9] as const, eps: 0.1 }, { weightDecay: 0.1 }, { betas: [0, 0] as const }].flatMap(
    (options): (typeof cases)[number][] => [
      [
        `Adam ${JSON.stringify(options)}`,
        (of, lr) => new optim.Adam(of, { lr, ...options }),
        () => adam(options, false),
      ],
      [
        `AdamW ${JSON.stringify(options)}`,
        (of, lr) => new optim.AdamW(of, { lr, ...options }),
        () => adam({ weightDecay: 0.01, ...options }, true),
      ],
    ],
  ),
];

const leaf = (values: readonly number[]) => tensor(Float64Array.from(values), { requiresGrad: true });
const numbers = (of: Tensor) => [...of.detach().data<"float64">()];
/** The gradient in step `i` of element `j` of parameter `p`; the second parameter has none in every third step. */
const gradientOf = (p: number, i: number, j: number) => Math.sin(1 + 7 * p + 3 * i + j) * (j + 1);
const without = (p: number, i: number) => p === 1 && i % 3 === 0;

// This test runs first in its process, so that no garbage of other tests is collected during it.
describeTensors("memory of an optimizer", () => {
  test("stays constant from step to step, also in a scope, and is freed by dispose", () => {
    const parameters = [leaf([1, 2]), leaf([3])];
    const optimizer = new optim.AdamW(parameters, { lr: 0.1 });
    const live: number[] = [];
    for (let i = 0; i < 4; i++) {
      {
        using _ = new TensorScope();
        parameters.reduce((sum, one) => sum.add(one.mul(one).sum()), torch.zeros([])).backward();
        optimizer.step();
      }
      optimizer.zeroGrad();
      live.push(tensorMemory().live);
    }
    expect(new Set(live).size).toBe(1);
    const before = tensorMemory().live;
    const state = Object.values(optimizer.stateDict().tensors);
    optimizer.dispose();
    optimizer[Symbol.dispose]();
    expect(state.map(({ disposed }) => disposed)).toEqual(Array(4).fill(true));
    // Each parameter has two of these tensors, in blocks of at least 64 bytes.
    expect(before - tensorMemory().live).toBeGreaterThanOrEqual(4 * 8);
    expect(parameters[0]!.disposed).toBe(false);
  });
});

describeTensors("an optimizer", () => {
  test.each(cases)("%s computes the result of its formula in every step", (_, make, rule) => {
    const values = [
      [1, -2, 0.5],
      [3, 0],
    ];
    const parameters = values.map(leaf);
    const optimizer = make(parameters, 0.1);
    const rules = values.map((all) => all.map(rule));
    for (let i = 0; i < 12; i++) {
      if (i === 5) optimizer.lr = 0.02;
      for (const [p, parameter] of parameters.entries()) {
        if (without(p, i)) continue;
        parameter.grad = tensor(Float64Array.from(values[p]!, (_, j) => gradientOf(p, i, j)));
        values[p] = values[p]!.map((value, j) => rules[p]![j]!.step(value, gradientOf(p, i, j), optimizer.lr));
      }
      optimizer.step();
      for (const [p, parameter] of parameters.entries()) {
        for (const [j, value] of numbers(parameter).entries()) expect(value).toBeCloseTo(values[p]![j]!, 12);
        if (!without(p, i)) expect(numbers(parameter.grad!)[0]).toBe(gradientOf(p, i, 0));
      }
      optimizer.zeroGrad();
      expect(parameters.map(({ grad }) => grad)).toEqual([null, null]);
    }
    expect(optimizer.stateDict().steps).toEqual([12, 8]);
  });

  test.each(cases)("%s continues from a saved state as without an interruption", (_, make) => {
    const start = [
      [1, 2],
      [3, 4],
    ];
    const step = (parameters: Parameters, optimizer: optim.Optimizer, i: number) => {
      for (const [p, one] of parameters.entries()) one.grad = leaf([gradientOf(p, i, 0), gradientOf(p, i, 1)]).detach();
      optimizer.step();
    };
    const [one, other] = [start.map(leaf), start.map(leaf)];
    const optimizer = make(one, 0.1);
    for (let i = 0; i < 3; i++) step(one, optimizer, i);
    optimizer.lr = 0.05;
    for (const [p, parameter] of other.entries()) parameter.detach().copy_(one[p]!.detach());
    const resumed = make(other, 9);
    const { tensors, ...rest } = optimizer.stateDict();
    resumed.loadStateDict({ ...JSON.parse(JSON.stringify(rest)), tensors });
    expect(resumed.lr).toBe(0.05);
    for (let i = 3; i < 6; i++)
      for (const [all, by] of [
        [one, optimizer],
        [other, resumed],
      ] as const)
        step(all, by, i);
    expect(other.map(numbers)).toEqual(one.map(numbers));
    expect(resumed.stateDict().steps).toEqual([6, 6]);
  });

  test("does not change parameters without gradients", () => {
    const parameter = leaf([1]);
    const optimizer = new optim.Adam([parameter]);
    optimizer.step();
    expect([numbers(parameter), optimizer.stateDict().steps]).toEqual([[1], [0]]);
  });

  test("sends a mesh as many commands for many parameters as for one, with the same results", async () => {
    const calls: number[] = [];
    for (const count of [1, 20]) {
      using pair = new RecorderAndWorker();
      const values = Array.from({ length: count }, (_, i) => [i, 1, -1]);
      const there = pair.run(() => values.map(leaf));
      const here = values.map(leaf);
      const optimizers = [there, here].map((all) => new optim.AdamW(all, { lr: 0.1 }));
      for (const all of [there, here]) for (const one of all) one.mul(one).sum().backward();
      await pair.submit();
      const before = (await pair.counts()).calls;
      for (const optimizer of optimizers) optimizer.step();
      await pair.submit();
      calls.push((await pair.counts()).calls - before);
      for (const [i, one] of there.entries()) expect(numbers(await pair.fetch(one))).toEqual(numbers(here[i]!));
    }
    expect(calls[0]).toBe(9);
    expect(calls[1]).toBe(calls[0]);
  });

  test("refuses invalid parameters and options", () => {
    const some = [leaf([1])];
    using pair = new RecorderAndWorker();
    const there = pair.run(() => leaf([1]));
    const refused = (make: () => unknown) => {
      try {
        return make();
      } catch (error) {
        return String(error);
      }
    };
    expect([
      refused(() => new optim.SGD([], { lr: 1 })),
      refused(() => new optim.Adam([some[0]!, some[0]!])),
      refused(() => new optim.Adam(["weight" as unknown as Tensor])),
      refused(() => new optim.Adam([some[0]!, there])),
      refused(() => new optim.SGD(some, { lr: -1 })),
      refused(() => new optim.SGD(some, { lr: 1, nesterov: true })),
      refused(() => new optim.SGD(some, { lr: 1, weightDecay: Number.NaN })),
      refused(() => new optim.Adam(some, { betas: [0.9, 1] })),
      refused(() => {
        new optim.Adam(some).lr = Number.NaN;
      }),
    ]).toEqual([
      "RangeError: cannot make an optimizer: it has no parameters",
      "RangeError: cannot make an optimizer: a parameter is given twice",
      "TypeError: cannot make an optimizer: its parameters must be tensors",
      "RangeError: cannot make an optimizer: its parameters are not all in one place",
      "RangeError: cannot optimize: lr must be a number from 0 on, got -1",
      "RangeError: cannot optimize: nesterov needs a momentum",
      "RangeError: cannot optimize: weightDecay must be a number from 0 on, got NaN",
      "RangeError: cannot optimize: betas[1] must be a number from 0 to below 1, got 1",
      "RangeError: cannot optimize: lr must be a number from 0 on, got NaN",
    ]);
  });

  test("refuses the state of another optimizer, and keeps its own state", () => {
    const optimizer = new optim.Adam([leaf([1]), leaf([2])], { lr: 0.5 });
    const { tensors } = optimizer.stateDict();
    expect(() => optimizer.loadStateDict({ lr: 1, steps: [1], tensors })).toThrow(
      "cannot load the state of Adam: steps must be 2 integers from 0 on, got [1]",
    );
    expect(() => optimizer.loadStateDict({ lr: 1, steps: [1, -1], tensors })).toThrow("got [1,-1]");
    expect(() => optimizer.loadStateDict({ lr: -1, steps: [1, 1], tensors })).toThrow("lr must be a number from 0 on");
    const other = new optim.Adam([leaf([1]), leaf([1, 2])]);
    expect(() => optimizer.loadStateDict(other.stateDict())).toThrow(
      'cannot load the state of Adam: "exp_avg.1" is float64[2], expected float64[1]; "exp_avg_sq.1" is float64[2]',
    );
    const sgd = new optim.SGD([leaf([1]), leaf([2])], { lr: 1, momentum: 0.5 });
    expect(() => optimizer.loadStateDict(sgd.stateDict())).toThrow('"exp_avg.0" is missing');
    expect([optimizer.lr, optimizer.stateDict().steps]).toEqual([0.5, [0, 0]]);
  });

  test("trains a module", () => {
    manualSeed(1);
    const model = new nn.Sequential(new nn.Linear(2, 8), torch.tanh, new nn.Linear(8, 1));
    const optimizer = new optim.Adam(model.parameters(), { lr: 0.03 });
    const x = torch.randn([64, 2]);
    const y = x.prod(1, true);
    const loss = () => torch.mse_loss(model.forward(x), y);
    const first = Number(loss().item());
    for (let i = 0; i < 300; i++) {
      using _ = new TensorScope();
      optimizer.zeroGrad();
      loss().backward();
      optimizer.step();
    }
    expect(Number(loss().item())).toBeLessThan(first / 10);
  });
});
