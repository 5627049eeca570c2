/** Meshes whose processes hold tensors: the built package, with real processes. */
import { thisHost } from "viceroy";
import { inspect, manualSeed, noGrad, shard, show, type Tensor, TensorError, tensor, torch } from "viceroy/tensor";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeTensors } from "./addon.js";

const failing = (of: Tensor) => of.index_select(0, tensor(BigInt64Array.of(99n)));

describeTensors("a mesh of tensors", () => {
  let procs: ReturnType<typeof start>;
  const start = () => thisHost().spawnProcs({ hosts: 2, gpus: 2 });
  beforeAll(() => {
    procs = start();
  });
  afterAll(() => procs.stop());

  test("computes on all processes what one process computes, and each part can be inspected", async () => {
    const answer = await procs.activate(async () => {
      const x = tensor([
        [1, 2],
        [3, 4],
      ]);
      const product = x.matmul(x);
      expect(product).toMatchObject({ shape: [2, 2], distributed: true });
      const parts = await Promise.all([inspect(product), inspect(product, { hosts: 1, gpus: 1 })]);
      expect(parts.map((part) => part.toArray())).toEqual([
        [
          [7, 10],
          [15, 22],
        ],
        [
          [7, 10],
          [15, 22],
        ],
      ]);
      expect(parts[0]!.distributed).toBe(false);
      return "done";
    });
    expect(answer).toBe("done");
    expect(tensor([1]).distributed).toBe(false);
  });

  test("gives each process its own shard and its own rank", async () => {
    await using mesh = procs.activate({ threads: 1 });
    const batch = tensor(
      Float32Array.from({ length: 8 }, (_, i) => i),
      { shape: [4, 2] },
    );
    const parts = mesh.run(() => shard(batch, { hosts: 0, gpus: 1 }));
    expect(parts.shape).toEqual([2, 1]);
    expect((await inspect(parts, { hosts: 1, gpus: 0 })).toArray()).toEqual([[4], [6]]);
    const place = procs.rank("hosts").mul(10).add(procs.rank("gpus"));
    expect(await show(place)).toBe(
      [
        "{'hosts': 0/2, 'gpus': 0/2} Tensor(int64[]) 0n",
        "{'hosts': 0/2, 'gpus': 1/2} Tensor(int64[]) 1n",
        "{'hosts': 1/2, 'gpus': 0/2} Tensor(int64[]) 10n",
        "{'hosts': 1/2, 'gpus': 1/2} Tensor(int64[]) 11n",
      ].join("\n"),
    );
    const ofNumbers = mesh.run(() => shard([[1n, 2n]], { gpus: 1 }));
    expect((await inspect(ofNumbers, { gpus: 1 })).toArray()).toEqual([[2n]]);
    expect(() => mesh.run(() => shard(batch, { gpus: 5 }))).toThrow(
      'cannot shard a tensor of shape [4, 2]: it has no dimension 5 to cut along "gpus"',
    );
    expect(() => mesh.run(() => shard(batch, { gpu: 0 }))).toThrow(
      /^cannot shard .*: the mesh \{.*\} has no dimension "gpu"$/,
    );
    expect(() => mesh.run(() => shard([1, 2, 3], { gpus: 0 }))).toThrow(
      'cannot shard a tensor of shape [3]: dimension 0 cannot be cut into 2 equal parts, one for each of "gpus"',
    );
    expect(() => shard(batch, { gpus: 0 })).toThrow(
      "cannot shard a tensor: no mesh is active; call it in the function that procs.activate() runs",
    );
    // @ts-expect-error: the mesh has other dimensions.
    expect(() => procs.rank("racks")).toThrow('has no dimension "racks"');
    expect(() => procs.slice({ hosts: 0 }).rank("gpus")).toThrow(
      / is not active; call it in the function that activate\(\) of the same mesh runs$/,
    );
    await expect(inspect(parts, { gpus: 2 })).rejects.toThrow('cannot inspect at {"gpus":2}: there is no such place');
    await expect(inspect(parts, { racks: 0 })).rejects.toThrow(RangeError);
    await expect(inspect(batch)).rejects.toThrow("cannot inspect a tensor of this process");
  });

  test("trains a model on each process with its own data", async () => {
    await procs.slice({ hosts: 0 }).activate(async () => {
      manualSeed(1);
      const w1 = torch.randn([2, 16]);
      const w2 = torch.randn([16, 1]);
      const params = [w1, w2];
      for (const one of params) one.requiresGrad = true;
      manualSeed(2, { perRank: true });
      const x = torch.randn([32, 2]);
      const y = x.sum([1], true);
      const loss = () => torch.mse_loss(x.matmul(w1).tanh().matmul(w2), y);
      const first = loss();
      for (let step = 0; step < 100; step++) {
        loss().backward();
        noGrad(() => {
          for (const one of params) {
            one.add_(one.grad!, { alpha: -0.05 });
            one.grad = null;
          }
        });
      }
      const last = loss();
      const lost = await Promise.all([first, last].flatMap((one) => [inspect(one), inspect(one, { gpus: 1 })]));
      const [before0, before1, after0, after1] = lost.map((one) => Number(one.item()));
      expect(after0!).toBeLessThan(before0! / 4);
      expect(after1!).toBeLessThan(before1! / 4);
      expect(before0).not.toBe(before1);
    });
  });

  test("reports a failure on one process with the operation, the rank and the line", async () => {
    await procs.activate(async () => {
      const index = procs.rank("gpus").mul(99).unsqueeze(0);
      const bad = torch.ones([3]).index_select(0, index).add(1);
      expect((await inspect(bad, { gpus: 0 })).toArray()).toEqual([2]);
      const error = await inspect(bad, { hosts: 1, gpus: 1 }).catch((failed) => failed);
      expect(error).toBeInstanceOf(TensorError);
      expect(error).toMatchObject({ code: "ERR_TENSOR_FAILED", op: "aten::index_select", rank: 3 });
      expect(error.site).toMatch(/mesh\.test\.ts:\d+:\d+$/);
      expect(error.message).toBe(
        `cannot fetch a tensor from rank 3, called at ${error.site}: aten::index_select failed: index out of range in self`,
      );
      expect((await inspect(torch.ones([1]), { gpus: 1 })).toArray()).toEqual([1]);
    });
  });

  test("refuses tensors of another mesh, and all use after its end", async () => {
    const one = procs.activate();
    const other = procs.activate();
    const x = one.run(() => torch.ones([2]));
    const y = other.run(() => torch.ones([2]));
    expect(() => x.add(y)).toThrow("its tensors are of different meshes");
    expect((await inspect(y.add(1))).toArray()).toEqual([2, 2]);
    await one.end();
    await one.end();
    expect(() => x.add(1)).toThrow("cannot run add.Scalar: its mesh is not active any more");
    expect(() => one.run(() => 1)).toThrow("is not active any more");
    await expect(inspect(x)).rejects.toThrow("cannot use a tensor of a mesh: the mesh is not active any more");
    expect((await inspect(y)).toArray()).toEqual([1, 1]);
    await other.end();
  });

  test("receives large tensors, and tensors that are too large are refused before they are sent", async () => {
    await procs.slice({ hosts: 0 }).activate(async () => {
      const large = tensor(new Float32Array((64 << 20) / 4).fill(1));
      const parts = Array.from({ length: 4 }, () => tensor(new Float32Array(4 << 20).fill(1)));
      const sum = torch.cat([large, ...parts]).sum();
      expect((await inspect(sum, { gpus: 1 })).item()).toBe((16 << 20) + 4 * (4 << 20));
      const why = "at most 67108864 can be sent as one; send parts, and join them by torch.cat";
      expect(() => tensor(new Float32Array((16 << 20) + 1))).toThrow(
        `cannot send a tensor of 67108868 bytes to a mesh: ${why}`,
      );
      const here = torch.ones([(16 << 20) + 1], { device: "cpu" });
      expect(() => shard(here, {})).toThrow(why);
    });
  });

  test("is refused with invalid options", () => {
    expect(() => procs.activate({ threads: 0 })).toThrow("threads must be an integer from 1 to 4096, got 0");
    expect(() => procs.activate({ refuseNan: true } as object)).toThrow(
      'expected one of the options threads, refuseNaN, device, got "refuseNan"',
    );
    expect(() => procs.activate(5 as unknown as object)).toThrow("expected a function or options, got 5");
    expect(() => manualSeed(-1)).toThrow("cannot seed with -1: expected an integer from 0 on");
  });

  test("reports a dead process to a caller that inspects its part", async () => {
    await using doomed = thisHost().spawnProcs({ gpus: 1 });
    await using mesh = doomed.activate();
    const x = mesh.run(() => torch.ones([1]));
    expect((await inspect(x)).toArray()).toEqual([1]);
    await doomed.stop();
    await expect(inspect(x)).rejects.toThrow(/tensors-\d+/);
  });

  test("rejects activate if a fetch in its function fails", async () => {
    await expect(
      procs.slice({ hosts: 0, gpus: 0 }).activate(async () => {
        await inspect(failing(torch.ones([1])));
      }),
    ).rejects.toThrow("index out of range in self");
  });
});
