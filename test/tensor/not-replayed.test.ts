/** Recorded steps: which calls are not replayed, and the reasons. All have the results of the step. */
import { expect, test } from "vitest";
import { nn, optim, recorded, type Tensor, torch } from "../../runtime/tensor/index.js";
import { describeTensors } from "./addon.js";
import { firstCalls, parameter, reasons, times } from "./recorded-calls.js";
import { RecorderAndWorker } from "./recorder-and-worker.js";

describeTensors("a call is not replayed", () => {
  const training = (pair: RecorderAndWorker) => {
    const w = parameter(pair, 1, 2);
    const step = recorded((x: Tensor) => {
      w.grad = null;
      w.mul(x).sum().backward();
    });
    const x = pair.send([1, 2]);
    reasons(pair, step, ...times(4, () => [x]));
    expect(step.reason).toBeUndefined();
    return { w, step, x };
  };

  test("if it differs from the one before, and the reason names the operation and its place", () => {
    using pair = new RecorderAndWorker();
    let calls = 0;
    using step = recorded((x: Tensor) => {
      const y = x.add(1);
      return ++calls === 2 ? y.mul(2) : y.mul(3);
    });
    const why = reasons(pair, step, ...times(5, () => [pair.send([1])]));
    expect(why[1]).toMatch(
      /^it differs from the call before at operation aten::mul \(.*not-replayed\.test\.ts:\d+:\d+\)$/,
    );
    expect(why[2]).toMatch(/^it differs from the call before at operation aten::mul/);
    expect(why.slice(3)).toEqual([firstCalls, undefined]);
  });

  test("if it uses other tensors from outside", () => {
    using pair = new RecorderAndWorker();
    let other = pair.send([1]);
    using step = recorded((x: Tensor) => {
      const sum = x.add(other);
      other = pair.send([2]);
      return sum;
    });
    const why = reasons(pair, step, () => [pair.send([1])]);
    expect(why).toEqual([firstCalls]);
  });

  test("if it returns other plain values", () => {
    using pair = new RecorderAndWorker();
    let calls = 0;
    using step = recorded((x: Tensor) => [x.add(1), ++calls]);
    expect(reasons(pair, step, ...times(2, () => [pair.send([1])]))[1]).toBe(
      "it returns other plain values than the call before",
    );
  });

  test("with an argument that was the same tensor in all calls before", async () => {
    using pair = new RecorderAndWorker();
    const outside = pair.send([1, 2]);
    using step = recorded((x: Tensor) => x.mul(outside));
    expect(reasons(pair, step, ...times(3, () => [outside]))).toEqual([firstCalls, firstCalls, undefined]);
    const x = pair.send([3, 4]);
    const first = pair.run(() => step(x));
    expect(step.reason).toMatch(/^it differs from the call before/);
    expect((await pair.fetch(first)).toArray()).toEqual([3, 8]);
    reasons(pair, step, () => [pair.send([5, 6])]);
    expect((await pair.fetch(pair.run(() => step(pair.send([7, 8]))))).toArray()).toEqual([7, 16]);
    expect(step.reason).toBeUndefined();
  });

  test("if an argument has the memory of a tensor from outside", async () => {
    using pair = new RecorderAndWorker();
    const outside = pair.send([1, 2]);
    using step = recorded((x: Tensor) => x.mul(outside));
    reasons(pair, step, () => [pair.send([3, 4])], ...times(2, () => [pair.send([5, 6])]));
    expect(step.reason).toBeUndefined();
    for (const argument of [outside, outside.narrow(0, 0, 2)]) {
      expect((await pair.fetch(pair.run(() => step(argument)))).toArray()).toEqual([1, 4]);
      expect(step.reason).not.toBeUndefined();
    }
    expect(reasons(pair, step, () => [outside.narrow(0, 0, 2)])).toEqual([
      "an argument shares memory with a tensor from outside",
    ]);
  });

  test("if other code holds a gradient that it replaces", async () => {
    using pair = new RecorderAndWorker();
    const { w, step, x } = training(pair);
    const held = w.grad!;
    const before = (await pair.fetch(held)).toArray();
    expect(reasons(pair, step, () => [pair.send([3, 4])])).toEqual([
      "other code holds a gradient that it replaces, or a view of it: dispose of it before the next call",
    ]);
    expect((await pair.fetch(held)).toArray()).toEqual(before);
    held.dispose();
    expect(reasons(pair, step, () => [x])).toEqual([undefined]);
  });

  test("if other code holds a view of a gradient, or a result that is one", async () => {
    using pair = new RecorderAndWorker();
    const { w, step, x } = training(pair);
    using gradient = w.grad!;
    const view = gradient.detach().narrow(0, 1, 1);
    gradient.dispose();
    expect(reasons(pair, step, () => [x])[0]).toMatch(/^other code holds a gradient that it replaces, or a view of it/);
    expect(reasons(pair, step, () => [x])).toEqual([undefined]);
    expect((await pair.fetch(view)).toArray()).toEqual([2]);
    using returning = recorded((factor: Tensor) => {
      w.grad = null;
      w.mul(factor).sum().backward();
      return w.grad as unknown as Tensor;
    });
    const results = times(5, () => pair.run(() => returning(x))).map((call) => call());
    expect(returning.calls.replayed).toBe(0);
    for (const one of results) one.dispose();
    for (const call of times(3, () => pair.run(() => returning(x)))) call().dispose();
    expect(returning.calls.replayed).toBeGreaterThan(0);
  });

  test("if gradients have changed otherwise", () => {
    using pair = new RecorderAndWorker();
    const { w, step, x } = training(pair);
    w.grad = null;
    expect(reasons(pair, step, () => [x])).toEqual([
      "a gradient that it computes is null before the call: set gradients to null in the step",
    ]);
    expect(reasons(pair, step, () => [x])).toEqual([undefined]);
    w.requiresGrad = false;
    // The step has removed the gradient before it fails.
    expect(() => pair.run(() => step(x))).toThrow("does not require grad");
    expect(step.reason).toBe("a tensor from outside has begun or ceased to require gradients");
    w.requiresGrad = true;
    expect(reasons(pair, step, ...times(2, () => [x])).at(-1)).toBeUndefined();
  });

  test("if a module behaves otherwise than in the calls before", async () => {
    using pair = new RecorderAndWorker();
    const dropout = new nn.Dropout(1);
    using step = recorded((x: Tensor) => dropout.forward(x));
    const x = pair.send([1, 2]);
    reasons(pair, step, ...times(3, () => [x]));
    expect(step.reason).toBeUndefined();
    dropout.eval();
    const results = times(4, () => pair.run(() => step(x))).map((call) => call());
    expect(step.reason).toBeUndefined();
    for (const one of results) expect((await pair.fetch(one)).toArray()).toEqual([1, 2]);
    dropout.train();
    pair.run(() => step(x));
    expect(step.reason).toMatch(/^it differs from the call before/);
    const toggling = recorded((y: Tensor) => dropout.train(!dropout.training).forward(y));
    expect(reasons(pair, toggling, ...times(3, () => [x]))[2]).toBe("it sets whether a module behaves as in training");
  });

  test("if a tensor from outside has another shape", () => {
    using pair = new RecorderAndWorker();
    const outside = pair.run(() => torch.ones([2, 2]));
    using step = recorded((x: Tensor) => outside.add(x));
    const x = pair.send([1, 2]);
    reasons(pair, step, ...times(3, () => [x]));
    outside.unsqueeze_(0);
    expect(pair.run(() => step(x)).shape).toEqual([1, 2, 2]);
    expect(step.reason).toMatch(/^the shape of a tensor from outside has changed|^it differs/);
  });

  interface Outside {
    readonly w: Tensor;
    readonly counter: Tensor;
    readonly optimizer: optim.SGD;
  }

  const refused: [string, string, (x: Tensor, given: Outside) => unknown][] = [
    [
      "keeps the graph of gradients",
      "it keeps gradients that require gradients",
      (x, { w }) => {
        w.grad = null;
        w.mul(x).mul(w).sum().backward({ createGraph: true });
      },
    ],
    [
      "changes the shape of an argument",
      "it changes the shape of an argument",
      (x) => {
        x.unsqueeze_(0).squeeze_(0);
      },
    ],
    [
      "disposes of an argument",
      "it disposes of an argument",
      (x) => {
        const y = x.add(1);
        x.dispose();
        return y;
      },
    ],
    [
      "uses another mesh",
      "it uses tensors of another mesh",
      (x) => {
        using other = new RecorderAndWorker();
        other.run(() => torch.ones([1]));
        return x.add(1);
      },
    ],
    [
      "returns a tensor of this process",
      "it returns a tensor that is not on the mesh",
      () => torch.ones([1], { device: "cpu" }),
    ],
    [
      "changes a tensor of this process",
      "it changes a tensor of this process",
      (x, { counter }) => {
        counter.add_(1);
        return x.add(1);
      },
    ],
    [
      "sets the learning rate",
      "it sets a learning rate: set it between calls",
      (x, { optimizer }) => {
        optimizer.lr = 0.5;
        return x.add(1);
      },
    ],
    [
      "loads the state of an optimizer",
      "it loads the state of an optimizer",
      (x, { optimizer }) => {
        optimizer.loadStateDict(optimizer.stateDict());
        return x.add(1);
      },
    ],
    [
      "changes whether a tensor requires gradients",
      "it changes whether a tensor from outside requires gradients",
      (x, { w }) => {
        w.requiresGrad = !w.requiresGrad;
        return w.detach().add(x);
      },
    ],
  ];

  test.each(refused)("if the step %s", (_, why, run) => {
    using pair = new RecorderAndWorker();
    const w = parameter(pair, 1, 2);
    const optimizer = new optim.SGD([w], { lr: 0.5 });
    const outside = { w, optimizer, counter: torch.zeros([1]) };
    using step = recorded((x: Tensor) => run(x, outside) as Tensor | undefined);
    const last = reasons(pair, step, ...times(4, () => [pair.send([1, 2])])).at(-1);
    expect(last).toContain(why);
    expect(step.calls.replayed).toBe(0);
  });

  test("if a tensor from outside has a graph", () => {
    using pair = new RecorderAndWorker();
    const w = parameter(pair, 1, 2);
    const doubled = w.mul(2);
    using step = recorded((x: Tensor) => doubled.mul(x));
    expect(reasons(pair, step, ...times(3, () => [pair.send([1, 2])])).at(-1)).toBe(
      "it uses a tensor from outside that other operations have computed with gradients: detach it",
    );
  });

  test("with arguments that are not all on its mesh", () => {
    using pair = new RecorderAndWorker();
    using step = recorded((x: Tensor, y: Tensor) => x.add(y));
    expect(reasons(pair, step, () => [pair.send([1]), torch.ones([1], { device: "cpu" })])).toEqual([
      "its arguments are not all on the same mesh",
    ]);
    using one = recorded((x: Tensor) => x.add(1));
    expect(reasons(pair, one, () => [torch.ones([1], { device: "cpu" })])).toEqual([
      "an argument is a tensor of this process",
    ]);
  });
});
