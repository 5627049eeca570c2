/** Modules and optimizers on processes: they compute what one process computes, and files keep their state. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { thisHost } from "viceroy";
import {
  inspect,
  loadTensors,
  manualSeed,
  nn,
  optim,
  saveTensors,
  type Tensor,
  tensor,
  tensorsIn,
  torch,
} from "viceroy/tensor";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeTensors } from "./addon.js";

class Model extends nn.Module {
  readonly embedding = new nn.Embedding(11, 8);
  readonly norm = new nn.LayerNorm(8);
  readonly attention = new nn.MultiHeadAttention(8, 2, { causal: true, dropout: 0.1 });
  readonly feed = new nn.Sequential(new nn.Linear(8, 16), torch.gelu, new nn.Linear(16, 8), new nn.Dropout(0.1));
  readonly head = new nn.Linear(8, 11, { bias: false });

  loss(indices: Tensor): Tensor {
    const x = this.embedding.forward(indices);
    const y = x.add(this.attention.forward(this.norm.forward(x)));
    const logits = this.head.forward(y.add(this.feed.forward(y)));
    return torch.cross_entropy_loss(logits.narrow(1, 0, 4).flatten(0, 1), indices.narrow(1, 1, 4).flatten());
  }
}

const indices = () =>
  tensor([
    [1n, 4n, 2n, 8n, 5n],
    [7n, 1n, 4n, 2n, 8n],
  ]);
const file = (name: string) => path.join(mkdtempSync(path.join(tmpdir(), "vnn-")), name);

describeTensors("a model on processes", () => {
  let procs: ReturnType<typeof start>;
  const start = () => thisHost().spawnProcs({ gpus: 2 });
  beforeAll(() => {
    procs = start();
  });
  afterAll(() => procs.stop());

  test("is trained as in one process with the same seed, including dropout", async () => {
    const train = () => {
      manualSeed(11);
      const model = new Model();
      const optimizer = new optim.AdamW(model.parameters(), { lr: 0.01 });
      return Array.from({ length: 5 }, () => {
        model.zeroGrad();
        const loss = model.loss(indices());
        loss.backward();
        optimizer.step();
        return loss;
      });
    };
    const here = train().map((loss) => loss.item());
    const there = await procs.activate(async () =>
      Promise.all(train().map(async (loss) => (await inspect(loss, { gpus: 1 })).item())),
    );
    for (const [i, loss] of there.entries()) expect(loss).toBeCloseTo(Number(here[i]), 5);
    expect(here.at(-1)).toBeLessThan(Number(here[0]));
  });

  test("is saved from one process, and training can continue elsewhere", async () => {
    const name = file("model.safetensors");
    const optimizerFile = file("optimizer.safetensors");
    const lost = await procs.activate(async () => {
      manualSeed(1, { perRank: true });
      const model = new Model();
      const optimizer = new optim.Adam(model.parameters(), { lr: 0.01 });
      model.loss(indices()).backward();
      optimizer.step();
      const { tensors, ...rest } = optimizer.stateDict();
      await saveTensors(name, model.stateDict(), { at: { gpus: 1 } });
      await saveTensors(optimizerFile, tensors, { at: { gpus: 1 }, metadata: { optimizer: JSON.stringify(rest) } });
      await expect(saveTensors(name, model.stateDict())).rejects.toThrow(
        'cannot save tensor "embedding.weight": each process of its mesh has a part; name one by { at: … }',
      );
      await expect(saveTensors(name, model.stateDict(), { at: { gpus: 2 } })).rejects.toThrow("there is no such place");
      return Promise.all([0, 1].map(async (gpus) => (await inspect(model.eval().loss(indices()), { gpus })).item()));
    });
    expect(lost[0]).not.toBeCloseTo(Number(lost[1]), 5);
    const here = new Model();
    here.loadStateDict(await loadTensors(name));
    expect(here.eval().loss(indices()).item()).toBeCloseTo(Number(lost[1]), 5);
    const { metadata } = await tensorsIn(optimizerFile);
    const again = await procs.activate(async () => {
      const model = new Model();
      model.loadStateDict(await loadTensors(name));
      const optimizer = new optim.Adam(model.parameters());
      optimizer.loadStateDict({ ...JSON.parse(metadata["optimizer"]!), tensors: await loadTensors(optimizerFile) });
      expect([optimizer.lr, optimizer.stateDict().steps[0]]).toEqual([0.01, 1]);
      return Promise.all([0, 1].map(async (gpus) => (await inspect(model.eval().loss(indices()), { gpus })).item()));
    });
    expect(again).toEqual([lost[1], lost[1]]);
  });

  test("large tensors are saved and loaded in parts, with their values at the time of saving", async () => {
    const name = file("large.safetensors");
    const count = (20 << 20) / 4 + 3;
    await procs.activate(async () => {
      const large = torch.arange(count, { dtype: "int32" }).mul(procs.rank("gpus").to("int32"));
      const saved = saveTensors(name, { large, small: procs.rank("gpus") }, { at: { gpus: 1 } });
      // Later changes are not saved.
      large.zero_();
      await saved;
      const { large: loaded, small } = await loadTensors(name);
      expect([loaded!.distributed, loaded!.shape, small!.dtype]).toEqual([true, [count], "int64"]);
      const same = loaded!.eq(torch.arange(count, { dtype: "int32" })).all();
      expect((await inspect(same)).item()).toBe(true);
      const { large: here } = await loadTensors(name, { names: ["large"], device: "cpu" });
      expect([here!.distributed, Number(here!.data<"int32">()[count - 1])]).toEqual([false, count - 1]);
      expect(() =>
        new nn.Linear(count, 1).loadStateDict({ weight: here!.view([1, count]) }, { strict: false }),
      ).toThrow('cannot load the state of Linear: "weight" is int32');
      const layer = new nn.Linear(20_000, 1, { bias: false });
      using values = torch.zeros([1, 20_000], { device: "cpu" });
      expect(() => layer.loadStateDict({ weight: values })).toThrow(
        'cannot load the state of Linear: "weight" is of this process, with 80000 bytes: load it where the mesh is active',
      );
      layer.loadStateDict({ weight: values.to("bfloat16") });
      expect((await inspect(layer.weight.abs().sum())).item()).toBe(0);
    });
  });

  test("a failure in a layer names the line that called the layer", async () => {
    await procs.activate(async () => {
      const layer = new nn.Sequential(new nn.Embedding(3, 2), torch.relu);
      const error = await inspect(layer.forward(tensor([5n]))).catch((failed) => failed);
      expect(error).toMatchObject({ code: "ERR_TENSOR_FAILED", op: "aten::embedding", rank: 0 });
      expect(error.site).toMatch(/nn-mesh\.test\.ts:\d+:\d+$/);
    });
  });

  test("state cannot be loaded from a mesh into this process, or into another mesh", async () => {
    const here = new nn.Linear(1, 1, { bias: false });
    await procs.activate(async () => {
      const there = new nn.Linear(1, 1, { bias: false });
      expect(() => here.loadStateDict(there.stateDict())).toThrow('"weight" is on a mesh, and its target is here');
      await procs.activate(async () => {
        const other = new nn.Linear(1, 1, { bias: false });
        expect(() => other.loadStateDict(there.stateDict())).toThrow("is on a mesh, and its target is on another one");
      });
    });
  });
});
