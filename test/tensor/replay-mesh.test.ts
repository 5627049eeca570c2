/** Recorded steps on processes: replays equal plain calls on each of them, and what leaves the stream of commands is not replayed. */
import { setImmediate as turn } from "node:timers/promises";
import { thisHost } from "viceroy";
import {
  inspect,
  manualSeed,
  nn,
  optim,
  recorded,
  shard,
  type Tensor,
  type TensorMesh,
  TensorScope,
  tensor,
  torch,
} from "viceroy/tensor";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeTensors } from "./addon.js";

class Model extends nn.Module {
  readonly feed = new nn.Sequential(new nn.Linear(4, 8), torch.gelu, new nn.Dropout(0.25), new nn.Linear(8, 2));
}

describeTensors("a recorded step on processes", () => {
  let procs: ReturnType<typeof start>;
  const start = () => thisHost().spawnProcs({ gpus: 2 });
  beforeAll(() => {
    procs = start();
  });
  afterAll(() => procs.stop());

  const train = (isRecorded: boolean) =>
    procs.activate(async () => {
      manualSeed(3, { perRank: true });
      const model = new Model();
      for (const one of model.parameters()) one.requiresGrad = false;
      // All processes start with the parameters of the first.
      for (const one of model.parameters()) one.copy_(one.broadcastFrom("gpus", 0)).requiresGrad = true;
      const optimizer = new optim.AdamW(model.parameters(), { lr: 0.05 });
      const gradients = new optim.FlatGradients(model.parameters());
      const plain = (x: Tensor, y: Tensor) => {
        const loss = torch.mse_loss(model.feed.forward(x), y);
        gradients.zero();
        loss.backward();
        gradients.average("gpus");
        optimizer.step();
        return { loss, largest: loss.reduce("gpus", "max") };
      };
      const step = isRecorded ? recorded(plain) : plain;
      const seen: unknown[] = [];
      for (let i = 0; i < 8; i++) {
        using _ = new TensorScope();
        const { loss, largest } = step(torch.randn([3, 4]), torch.randn([3, 2]));
        for (const gpus of [0, 1]) seen.push((await inspect(loss, { gpus })).item());
        seen.push((await inspect(largest, { gpus: 1 })).item());
      }
      const { tensors, steps } = optimizer.stateDict();
      for (const one of [...model.parameters(), ...Object.values(tensors), torch.randn([3])]) {
        for (const gpus of [0, 1]) seen.push((await inspect(one, { gpus })).toArray());
      }
      return { seen, steps, calls: isRecorded ? (step as unknown as { calls: unknown }).calls : undefined };
    });

  test("averages gradients and leaves the state that it leaves without recording", async () => {
    const { calls, ...replayed } = await train(true);
    const { calls: _, ...plain } = await train(false);
    expect(replayed).toEqual(plain);
    expect(calls).toEqual({ plain: 3, replayed: 5 });
    const [first, second] = plain.seen as number[];
    expect(first).not.toBe(second);
  });

  test("waits for nothing, and its messages stay in order with others", async () => {
    await procs.activate(async (mesh) => {
      const sum = torch.zeros([1]);
      const step = recorded((x: Tensor) => {
        sum.add_(x);
      });
      for (let i = 0; i < 50; i++) {
        using x = shard([1, 2], { gpus: 0 });
        step(x);
        if (i % 10 === 0) await turn();
      }
      sum.mul_(2);
      expect((await inspect(sum, { gpus: 1 })).toArray()).toEqual([200]);
      expect(step.calls.replayed).toBeGreaterThan(40);
      await mesh.finish();
    });
  });

  const leaving: [string, string, (mesh: TensorMesh, x: Tensor) => unknown][] = [
    ["inspects a tensor", "it inspects a tensor", (_, x) => void inspect(x)],
    ["waits for the mesh", "it waits for a mesh", (mesh) => void mesh.finish()],
    [
      "sends different elements to the processes",
      "it sends different elements to the processes",
      () => void shard([1, 2], { gpus: 0 }),
    ],
    [
      "moves a tensor to a part of the mesh",
      "it exchanges tensors with actors or another mesh",
      (_, x) => void x.sliceMesh({ gpus: 1 }).add(1),
    ],
  ];

  test.each(leaving)("is not replayed if it %s", async (_, why, leave) => {
    await procs.activate(async (mesh) => {
      const step = recorded((x: Tensor) => {
        leave(mesh, x);
        return x.add(1);
      });
      const results: unknown[] = [];
      for (let i = 0; i < 4; i++) results.push((await inspect(step(tensor([i])))).toArray());
      expect(results).toEqual([[1], [2], [3], [4]]);
      expect(step.calls).toEqual({ plain: 4, replayed: 0 });
      expect(step.reason).toBe(why);
    });
  });

  test("cannot be called after its mesh has ended", async () => {
    const step = recorded((x: Tensor) => x.add(1));
    const x = await procs.activate(async () => {
      const made = tensor([1]);
      for (let i = 0; i < 3; i++) step(made);
      return made;
    });
    expect(() => step(x)).toThrow("cannot call a recorded step: the mesh of its arguments is not active any more");
    expect(step(tensor([1])).toArray()).toEqual([2]);
  });
});
