/** Gradients in one tensor: they equal separate gradients, and processes exchange them all at once. */
import { thisHost } from "viceroy";
import { inspect, manualSeed, nn, optim, type Tensor, TensorScope, tensor, tensorMemory, torch } from "viceroy/tensor";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeTensors } from "./addon.js";

const parameter = (values: Parameters<typeof tensor>[0], dtype: "float32" | "float64" = "float32") =>
  tensor(values, { dtype, requiresGrad: true });
const sumOf = (parameters: readonly Tensor[]) =>
  parameters.map((one) => one.mul(one).sum().to("float32")).reduce((sum, one) => sum.add(one));

describeTensors("gradients in one tensor", () => {
  test("equal the gradients of backward, and are reset by zero", () => {
    const parameters = [
      parameter([
        [1, 2],
        [3, 4],
      ]),
      parameter([5]),
      parameter(6),
    ];
    using gradients = new optim.FlatGradients(parameters);
    for (let round = 0; round < 3; round++) {
      gradients.zero();
      sumOf(parameters).backward();
      expect(parameters.map((one) => one.grad!.toArray())).toEqual([
        [
          [2, 4],
          [6, 8],
        ],
        [10],
        12,
      ]);
    }
    sumOf(parameters).backward();
    expect(parameters[1]!.grad!.toArray()).toEqual([20]);
  });

  test("keep earlier gradients, are restored after zeroGrad, and are removed by dispose", () => {
    const parameters = [parameter([1, 2]), parameter([3])];
    sumOf(parameters).backward();
    const gradients = new optim.FlatGradients(parameters);
    expect(parameters.map((one) => one.grad!.toArray())).toEqual([[2, 4], [6]]);
    new optim.SGD(parameters, { lr: 1 }).zeroGrad();
    expect(parameters[0]!.grad).toBeNull();
    gradients.zero();
    expect(parameters.map((one) => one.grad!.toArray())).toEqual([[0, 0], [0]]);
    gradients.dispose();
    gradients.dispose();
    expect(parameters.map((one) => one.grad)).toEqual([null, null]);
  });

  test("leave no tensors behind after each step", () => {
    const parameters = [parameter([1, 2]), parameter([3])];
    using gradients = new optim.FlatGradients(parameters);
    const before = tensorMemory().live;
    for (let round = 0; round < 10; round++) {
      using _ = new TensorScope();
      gradients.zero();
      sumOf(parameters).backward();
    }
    expect(tensorMemory().live).toBe(before);
  });

  test("are refused for parameters that have no gradient or are given twice", () => {
    const one = parameter([1]);
    expect(() => new optim.FlatGradients([one, tensor([1])])).toThrow(
      "cannot keep the gradient of parameter 1: it requires no gradient",
    );
    expect(() => new optim.FlatGradients([one, one])).toThrow(
      "cannot keep the gradient of parameter 1: it is there twice",
    );
    expect(() => new optim.FlatGradients([3 as never])).toThrow(
      "cannot keep the gradient of parameter 0: it is no tensor",
    );
    expect(() => new optim.FlatGradients([one]).average("gpus")).toThrow(/^cannot reduce/);
  });
});

describeTensors("gradients in one tensor, on processes", () => {
  let procs: ReturnType<typeof start>;
  const start = () => thisHost().spawnProcs({ gpus: 2 });
  beforeAll(() => {
    procs = start();
  });
  afterAll(() => procs.stop());

  test("have the same averages as separate gradients, for all types", async () => {
    const [together, alone] = await procs.activate(async () => {
      const rank = procs.rank("gpus").add(1).to("float32");
      const parameters = [
        parameter([
          [1, 2],
          [3, 4],
        ]),
        parameter([5], "float64"),
        parameter([6, 7]),
      ];
      const loss = () => sumOf(parameters).mul(rank);
      const gradients = new optim.FlatGradients(parameters);
      gradients.zero();
      loss().backward();
      const own = parameters.map((one) => one.grad!.reduce("gpus", "avg"));
      gradients.average("gpus");
      const all = parameters.map((one) => one.grad!);
      const seen = (tensors: Tensor[]) =>
        Promise.all(tensors.map(async (one) => (await inspect(one, { gpus: 1 })).toArray()));
      return [await seen(all), await seen(own)] as const;
    });
    expect(together).toEqual(alone);
    expect(together).toEqual([
      [
        [3, 6],
        [9, 12],
      ],
      [15],
      [18, 21],
    ]);
  });

  test("are averaged also if they were replaced, and missing gradients stay missing", async () => {
    const [first, second] = await procs.activate(async () => {
      const rank = procs.rank("gpus").add(1).to("float32");
      const parameters = [parameter([1, 2]), parameter([3])];
      const gradients = new optim.FlatGradients(parameters);
      for (const one of parameters) one.grad = null;
      parameters[0]!.mul(rank).sum().backward();
      gradients.average("gpus");
      return [(await inspect(parameters[0]!.grad!)).toArray(), parameters[1]!.grad];
    });
    expect(first).toEqual([1.5, 1.5]);
    expect(second).toBeNull();
  });

  test("keep copies of a model identical", async () => {
    const weights = await procs.activate(async () => {
      manualSeed(3);
      const model = new nn.Sequential(new nn.Linear(3, 4), torch.relu, new nn.Linear(4, 1));
      const gradients = new optim.FlatGradients(model.parameters());
      const optimizer = new optim.Adam(model.parameters(), { lr: 0.1 });
      const rows = torch.ones([2, 3]).mul(procs.rank("gpus").add(1));
      for (let step = 0; step < 5; step++) {
        using _ = new TensorScope();
        gradients.zero();
        model.forward(rows).square().mean().backward();
        gradients.average("gpus");
        optimizer.step();
      }
      const [first] = model.parameters();
      return Promise.all([0, 1].map(async (gpus) => (await inspect(first!, { gpus })).toArray()));
    });
    expect(weights[0]).toEqual(weights[1]);
  });
});
