/** Recorded steps: which calls are replayed, with which results, and why others are not. */
import { expect, test } from "vitest";
import { noGrad, optim, recorded, type Tensor, TensorScope, tensor, torch } from "../../runtime/tensor/index.js";
import { describeTensors } from "./addon.js";
import { RecorderAndWorker } from "./recorder-and-worker.js";

describeTensors("a recorded step", () => {
  test("is replayed from its third call on, with new results each time", async () => {
    using pair = new RecorderAndWorker();
    using step = recorded((x: Tensor, by: number) => ({ product: x.mul(by), list: [x.sum(), by] as const }));
    for (let i = 1; i <= 6; i++) {
      const { product, list } = pair.run(() => step(pair.send([i, 2]), 3));
      expect((await pair.fetch(product)).toArray()).toEqual([3 * i, 6]);
      expect((await pair.fetch(list[0])).item()).toBe(i + 2);
      expect(list[1]).toBe(3);
    }
    expect(step.calls).toEqual({ plain: 2, replayed: 4 });
    expect(step.reason).toBeUndefined();
  });

  test("trains a model as it does without recording", async () => {
    const train = async (isRecorded: boolean) => {
      using pair = new RecorderAndWorker();
      pair.seed(3, false);
      const w = pair.run(() => torch.randn([3, 2]));
      w.requiresGrad = true;
      const optimizer = pair.run(() => new optim.AdamW([w], { lr: 0.1 }));
      const plain = (x: Tensor) => {
        optimizer.zeroGrad();
        const loss = torch.dropout(x.matmul(w), 0.5, true).square().mean();
        loss.backward();
        optimizer.step();
        return loss;
      };
      const step = isRecorded ? recorded(plain) : plain;
      const losses: unknown[] = [];
      for (let i = 0; i < 8; i++) {
        using _ = new TensorScope();
        if (i === 5) optimizer.lr = 1;
        const loss = pair.run(() => step(torch.randn([4, 3])));
        losses.push((await pair.fetch(loss)).item());
      }
      const state = await Promise.all(
        [w, w.grad!, ...Object.values(optimizer.stateDict().tensors)].map(async (one) =>
          (await pair.fetch(one)).toArray(),
        ),
      );
      const calls = isRecorded ? (step as unknown as { calls: unknown }).calls : undefined;
      return { losses, state, steps: optimizer.stateDict().steps, calls };
    };
    const { calls, ...replayed } = await train(true);
    const { calls: _, ...plain } = await train(false);
    expect(replayed).toEqual(plain);
    expect(calls).toEqual({ plain: 3, replayed: 5 });
  });
});
