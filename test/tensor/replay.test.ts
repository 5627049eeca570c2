/** Recorded steps: which calls are replayed, with which results. */
import { expect, test } from "vitest";
import { grad, manualSeed, noGrad, optim, recorded, type Tensor, tensor, torch } from "../../runtime/tensor/index.js";
import { describeTensors } from "./addon.js";
import { firstCalls, parameter, reasons, times } from "./recorded-calls.js";
import { RecorderAndWorker } from "./recorder-and-worker.js";

describeTensors("a recorded step", () => {
  test("is replayed from its third call on, with new results each time", async () => {
    using pair = new RecorderAndWorker();
    using step = recorded((x: Tensor, by: number) => ({ product: x.mul(by), list: [x.sum(), by, null] as const }));
    for (let i = 1; i <= 6; i++) {
      const { product, list } = pair.run(() => step(pair.send([i, 2]), 3));
      expect(product).toMatchObject({ shape: [2], dtype: "float32", requiresGrad: false });
      expect((await pair.fetch(product)).toArray()).toEqual([3 * i, 6]);
      expect((await pair.fetch(list[0])).item()).toBe(i + 2);
      expect(list.slice(1)).toEqual([3, null]);
    }
    expect(step.calls).toEqual({ plain: 2, replayed: 4 });
    expect(step.reason).toBeUndefined();
  });

  test("that trains is replayed from its fourth call on, because gradients are replaced from the second on", async () => {
    using pair = new RecorderAndWorker();
    const w = parameter(pair, 1, 2);
    const optimizer = new optim.SGD([w], { lr: 0.5 });
    using step = recorded((x: Tensor) => {
      optimizer.zeroGrad();
      w.mul(x).sum().backward();
      optimizer.step();
    });
    const x = pair.send([1, 2]);
    expect(reasons(pair, step, ...times(5, () => [x]))).toEqual([
      ...[firstCalls, firstCalls, firstCalls],
      ...[undefined, undefined],
    ]);
    expect((await pair.fetch(w)).toArray()).toEqual([-1.5, -3]);
    expect((await pair.fetch(w.grad!)).toArray()).toEqual([1, 2]);
    expect(optimizer.stateDict().steps).toEqual([5]);
  });

  test("can be divided into one that computes gradients and one that uses them", async () => {
    using pair = new RecorderAndWorker();
    const w = parameter(pair, 1, 2);
    const optimizer = new optim.SGD([w], { lr: 0.5 });
    using backward = recorded((x: Tensor) => {
      optimizer.zeroGrad();
      w.mul(x).sum().backward();
    });
    using update = recorded(() => {
      w.grad!.clamp_(-1, 1);
      optimizer.step();
    });
    for (let i = 1; i <= 6; i++) {
      pair.run(() => backward(pair.send([i, -i])));
      pair.run(() => update());
    }
    expect(backward.calls).toEqual({ plain: 3, replayed: 3 });
    expect(update.calls.replayed).toBeGreaterThan(1);
    expect((await pair.fetch(w)).toArray()).toEqual([-2, 5]);
  });

  test("sends one message per replay whose size does not depend on the operations", async () => {
    using pair = new RecorderAndWorker();
    const bytes = [10, 1000].map((operations) => {
      using step = recorded((x: Tensor) => {
        let y = x;
        for (let i = 0; i < operations; i++) y = y.add(1);
        return y;
      });
      const sizes = times(4, () => {
        const x = pair.send([1]);
        pair.take();
        const y = pair.run(() => step(x));
        x.dispose();
        y.dispose();
        return pair.take().length;
      }).map((size) => size());
      return sizes.at(-1)!;
    });
    expect(bytes[0]).toBe(bytes[1]);
    expect(bytes[0]).toBeLessThan(100);
  });

  test("has programs for several shapes and plain values, and forgets the oldest of more than eight", () => {
    using pair = new RecorderAndWorker();
    using step = recorded((x: Tensor, by: number) => x.mul(by));
    const x = pair.send([1, 2]);
    const y = pair.send([1, 2, 3]);
    const of = (one: Tensor, by: number) => () => [one, by] as [Tensor, number];
    expect(reasons(pair, step, of(x, 1), of(y, 1), of(x, 2), of(x, 1), of(y, 1), of(x, 2))).toEqual(
      Array(6).fill(firstCalls),
    );
    expect(reasons(pair, step, of(x, 1), of(y, 1), of(x, 2))).toEqual([undefined, undefined, undefined]);
    const all = [0, 1, 2, 3, 4, 5, 6, 7];
    reasons(pair, step, ...all.flatMap((by) => [of(x, by), of(x, by)]));
    expect(reasons(pair, step, of(y, 1), of(x, 7))).toEqual([firstCalls, undefined]);
  });

  test("is an ordinary function in this process", () => {
    using step = recorded((x: Tensor) => [x.add(1)]);
    expect(step(tensor([1]))[0]!.toArray()).toEqual([2]);
    expect(step.reason).toBe("it runs in this process");
    expect(step.calls).toEqual({ plain: 1, replayed: 0 });
  });

  test("disposes of what it has made, except for results", async () => {
    using pair = new RecorderAndWorker();
    const made: Tensor[] = [];
    using step = recorded((x: Tensor) => {
      const y = x.add(1);
      made.push(y);
      return y;
    });
    const x = pair.send([1]);
    const results = times(4, () => pair.run(() => step(x))).map((call) => call());
    expect(made.every(({ disposed }) => disposed)).toBe(true);
    for (const one of results) expect((await pair.fetch(one)).toArray()).toEqual([2]);
    for (const one of [x, ...results]) one.dispose();
    await pair.submit();
    expect((await pair.counts()).tensors).toBe(0);
  });

  test("that is called by another one is a part of it", () => {
    using pair = new RecorderAndWorker();
    const inner = recorded((x: Tensor) => x.add(1));
    using outer = recorded((x: Tensor) => inner(x).mul(2));
    expect(reasons(pair, outer, ...times(3, () => [pair.send([1])]))).toEqual([firstCalls, firstCalls, undefined]);
    expect(inner.reason).toBe("it is called by another recorded step");
  });

  test("runs plainly after it was disposed of, and is recorded anew after a reset", () => {
    using pair = new RecorderAndWorker();
    let by = 1;
    const step = recorded((x: Tensor) => x.mul(by));
    const x = pair.send([1]);
    reasons(pair, step, ...times(3, () => [x]));
    by = 2;
    expect(reasons(pair, step, () => [x])).toEqual([undefined]);
    step.reset();
    expect(reasons(pair, step, ...times(3, () => [x]))).toEqual([firstCalls, firstCalls, undefined]);
    step.dispose();
    expect(reasons(pair, step, () => [x])).toEqual(["the step has been disposed of"]);
  });

  test("gives up when its plain values change all the time, until it is reset", () => {
    using pair = new RecorderAndWorker();
    using step = recorded((x: Tensor, by: number) => x.mul(by));
    const x = pair.send([1]);
    let by = 0;
    const why = reasons(pair, step, ...times(73, () => [x, ++by]));
    expect(why.slice(71)).toEqual([firstCalls, "its shapes or plain values change all the time"]);
    step.reset();
    expect(reasons(pair, step, ...times(3, () => [x, 1]))).toEqual([firstCalls, firstCalls, undefined]);
  });

  test("gives up after 16 calls that were not replayed, until it is reset", () => {
    using pair = new RecorderAndWorker();
    let by = 0;
    using step = recorded((x: Tensor) => x.mul(++by));
    const x = pair.send([1]);
    const why = reasons(pair, step, ...times(18, () => [x]));
    expect(why[16]).toMatch(/^its calls have not been recorded since 16 of them were not replayed: it differs from/);
    expect(why[17]).toBe(why[16]);
  });
});

describeTensors("a recorded step refuses", () => {
  test("arguments that require gradients", () => {
    using pair = new RecorderAndWorker();
    const step = recorded((x: { y: Tensor }) => x.y.add(1));
    expect(() => step({ y: parameter(pair, 1) })).toThrow(
      new TypeError(
        "cannot call a recorded step: tensor 0 of its arguments requires gradients; pass what detach() returns",
      ),
    );
  });

  test("other arguments and results, and promises", async () => {
    const step = recorded((x: unknown) => x);
    expect(() => step({ list: [new Map()] })).toThrow(
      new TypeError(
        "cannot call a recorded step: argument 0.list.0 must be a tensor, a plain value, or an array or object of them, got a Map",
      ),
    );
    const around: unknown[] = [];
    around.push(around);
    expect(() => step(around)).toThrow("argument 0.0 must not contain itself");
    expect(() => recorded(() => () => 1)()).toThrow(
      new TypeError(
        "cannot return from a recorded step: result must be a tensor, a plain value, or an array or object of them, got a function",
      ),
    );
    expect(() => recorded(async () => {})()).toThrow(
      new TypeError("cannot call a recorded step that returns a promise: await outside of the step"),
    );
  });
});

describeTensors("a replay", () => {
  test("makes graphs stale whose tensors it changes, as the step does", () => {
    using pair = new RecorderAndWorker();
    const w = parameter(pair, 1, 2);
    using step = recorded((by: Tensor) => noGrad(() => void w.mul_(by)));
    const by = pair.send([2, 2]);
    reasons(pair, step, ...times(3, () => [by]));
    const loss = w.mul(w).sum();
    expect(reasons(pair, step, () => [by])).toEqual([undefined]);
    expect(() => loss.backward()).toThrow("modified by an inplace operation");
  });

  test("returns views that share memory with tensors from outside", async () => {
    using pair = new RecorderAndWorker();
    const outside = pair.run(() => torch.zeros([2, 2]));
    using step = recorded((x: Tensor) => [outside.select(0, 1), x.narrow(0, 1, 1)] as const);
    for (let i = 0; i < 4; i++) {
      const x = pair.send([1, 2]);
      const [row, part] = pair.run(() => step(x));
      row.add_(1);
      part.add_(i);
      expect((await pair.fetch(x)).toArray()).toEqual([1, 2 + i]);
    }
    expect((await pair.fetch(outside)).toArray()).toEqual([
      [0, 0],
      [4, 4],
    ]);
    expect(step.calls.replayed).toBe(2);
  });

  test("fails with the operation and the place of the step", async () => {
    using pair = new RecorderAndWorker();
    const table = pair.send([1, 2, 3]);
    using step = recorded((rows: Tensor) => table.index_select(0, rows).add(1));
    const failures: unknown[] = [];
    for (let i = 0; i < 4; i++) {
      const failed = pair.run(() => step(tensor([7n])));
      failures.push(
        await pair.fetch(failed).catch((error: Error & { site: string }) => ({ text: error.message, at: error.site })),
      );
    }
    expect(step.calls.replayed).toBe(2);
    expect(failures[0]).toMatchObject({
      text: expect.stringContaining("aten::index_select failed: index out of range"),
    });
    expect(failures).toEqual(Array(4).fill(failures[0]));
    expect((await pair.fetch(pair.run(() => step(tensor([1n]))))).toArray()).toEqual([3]);
  });

  test("draws the random numbers that the step would draw", async () => {
    const draw = async (isRecorded: boolean) => {
      using pair = new RecorderAndWorker();
      pair.seed(5, false);
      const plain = (x: Tensor) => torch.dropout(x, 0.5, true).add(torch.randn([4]));
      const step = isRecorded ? recorded(plain) : plain;
      const drawn: unknown[] = [];
      for (let i = 0; i < 5; i++) {
        const x = pair.run(() => torch.randn([4]));
        drawn.push((await pair.fetch(pair.run(() => step(x)))).toArray());
      }
      return drawn;
    };
    expect(await draw(true)).toEqual(await draw(false));
  });

  test("seeds again if the step does", async () => {
    using pair = new RecorderAndWorker();
    using step = recorded((x: Tensor) => {
      manualSeed(7);
      return torch.randn([2]).add(x);
    });
    const x = pair.send([0, 0]);
    const drawn = [];
    for (let i = 0; i < 4; i++) drawn.push((await pair.fetch(pair.run(() => step(x)))).toArray());
    expect(drawn).toEqual(Array(4).fill(drawn[0]));
    expect(step.calls.replayed).toBe(2);
  });

  test("differentiates by grad() and by gradients of gradients", async () => {
    using pair = new RecorderAndWorker();
    const w = parameter(pair, 1, 2);
    using step = recorded((x: Tensor) => {
      const [first] = grad(w.mul(w).mul(x).sum(), [w], { createGraph: true });
      const [second] = grad(first!.sum(), [w]);
      return second!;
    });
    for (let i = 1; i < 6; i++) {
      expect((await pair.fetch(pair.run(() => step(pair.send([i, 2]))))).toArray()).toEqual([2 * i, 4]);
    }
    expect(step.calls.replayed).toBe(2);
  });
});

describeTensors("an optimizer in a recorded step", () => {
  class Decay extends optim.Optimizer {
    readonly #isMarked: boolean;
    constructor(parameters: Tensor[], isMarked: boolean) {
      super(parameters, 0.5, []);
      this.#isMarked = isMarked;
    }
    protected override update({ parameters, callWithNumber }: optim.Group): void {
      if (this.#isMarked) callWithNumber("_foreach_mul_.Scalar", [parameters], () => this.lr);
      else for (const one of parameters) one.mul_(this.lr);
    }
  }

  test.each([
    ["that marks its numbers is replayed with another rate", true, undefined],
    [
      "that uses the rate otherwise is not replayed after the rate has changed",
      false,
      /^it differs from the call before/,
    ],
  ])("of a user %s", async (_, isMarked, why) => {
    using pair = new RecorderAndWorker();
    const w = parameter(pair, 64);
    const optimizer = new Decay([w], isMarked);
    using step = recorded((x: Tensor) => {
      optimizer.zeroGrad();
      w.mul(x).sum().backward();
      optimizer.step();
    });
    const x = pair.send([1]);
    reasons(pair, step, ...times(4, () => [x]));
    expect(step.reason).toBeUndefined();
    optimizer.lr = 0.25;
    pair.run(() => step(x));
    if (why === undefined) expect(step.reason).toBeUndefined();
    else expect(step.reason).toMatch(why);
    expect((await pair.fetch(w)).toArray()).toEqual([1]);
    expect(optimizer.stateDict().steps).toEqual([5]);
  });
});
