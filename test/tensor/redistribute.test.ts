/** Tensors on parts of a mesh, and from one mesh to another one, between real processes. */
import { Point, type ProcMesh, range, thisHost } from "viceroy";
import { fetchShard, inspect, type Tensor, type TensorMesh, torch } from "viceroy/tensor";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeTensors } from "./addon.js";

async function at(tensor: Tensor, places: readonly Readonly<Record<string, number>>[]): Promise<unknown[]> {
  return Promise.all(places.map(async (place) => (await inspect(tensor, place)).toArray()));
}

describeTensors("tensors of parts of a mesh", () => {
  let procs: ProcMesh<"hosts" | "gpus">;
  let mesh: TensorMesh;
  beforeAll(() => {
    procs = thisHost().spawnProcs({ hosts: 2, gpus: 2 });
    mesh = procs.activate();
  });
  afterAll(() => procs.stop());

  /** Ten times the index along hosts, plus the index along gpus. */
  const places = () =>
    procs
      .rank("hosts")
      .mul(10)
      .add(procs.rank("gpus"))
      .add(torch.zeros([2], { dtype: "int64" }));

  test("are on the processes of the part, with their values at the time of slicing", async () => {
    await mesh.run(async () => {
      const all = places();
      const second = all.sliceMesh({ hosts: 1 });
      all.mul_(100);
      expect(second).toMatchObject({ shape: [2], dtype: "int64", distributed: true });
      const part = mesh.slice({ hosts: 1 });
      expect(part.extent).toEqual({ gpus: 2 });
      const shards = await Promise.all(part.points.map((point) => fetchShard(second, point)));
      expect(shards.map((shard) => shard.toArray())).toEqual([
        [10n, 10n],
        [11n, 11n],
      ]);
      expect(await at(second.add(1), [{ gpus: 0 }, { gpus: 1 }])).toEqual([
        [11n, 11n],
        [12n, 12n],
      ]);
      const summed = second.reduce("gpus", "sum");
      expect(await at(summed, [{ gpus: 0 }, { gpus: 1 }])).toEqual([
        [21n, 21n],
        [21n, 21n],
      ]);
      // A part that has ended is created again.
      await part.end();
      expect((await inspect(all.sliceMesh({ hosts: 1 }), { gpus: 1 })).toArray()).toEqual([1100n, 1100n]);
      const one = all.sliceMesh(new Point({ hosts: 2, gpus: 2 }, 1));
      expect((await inspect(one)).toArray()).toEqual([100n, 100n]);
      const kept = all.sliceMesh({ gpus: range(1, 2) });
      expect(await at(kept, [{ hosts: 0 }, { hosts: 1 }])).toEqual([
        [100n, 100n],
        [1100n, 1100n],
      ]);
    });
  });

  test("move from one part to another, as in a pipeline", async () => {
    const [first, second] = [mesh.slice({ hosts: 0 }), mesh.slice({ hosts: 1 })];
    const hidden = first.run(() => torch.ones([300, 300]).mul(procs.slice({ hosts: 0 }).size));
    const moved = hidden.toMesh(second);
    const result = moved.mul(procs.slice({ hosts: 1 }).size).sum();
    expect(await at(result, [{ gpus: 0 }, { gpus: 1 }])).toEqual([360000, 360000]);
    const back = moved.toMesh(first).sub(hidden).abs().sum();
    expect(await at(back, [{ gpus: 0 }, { gpus: 1 }])).toEqual([0, 0]);
    const none = first.run(() => torch.ones([0, 3])).toMesh(second);
    expect((await inspect(none)).shape).toEqual([0, 3]);
  });

  test("keep their failure after a move to another part", async () => {
    const [first, second] = [mesh.slice({ hosts: 0 }), mesh.slice({ hosts: 1 })];
    const broken = first.run(() => torch.ones([2]).index_select(0, tensorOf(5)));
    for (const there of [broken.toMesh(second), broken.toMesh(first)]) {
      await expect(inspect(there)).rejects.toThrow(/index out of range/);
    }
    expect(await inspect(second.run(() => torch.ones([])))).toMatchObject({ shape: [] });
  });

  test("of different or incompatible meshes are refused at the call", async () => {
    const first = mesh.slice({ hosts: 0 });
    const all = mesh.run(() => torch.ones([2]));
    expect(() => all.add(all.sliceMesh({ hosts: 0 }))).toThrow(/mesh/);
    await using others = thisHost().spawnProcs({ gpus: 3 });
    await using apart = others.activate();
    expect(() => all.toMesh(apart)).toThrow(
      /^cannot move a tensor from mesh .* to mesh .*: it has 3 processes, which are no part of the 4 and not as many$/,
    );
    expect(() => all.sliceMesh({ tp: 0 })).toThrow(/"tp"/);
    expect(() => torch.ones([2]).toMesh(first)).toThrow("cannot toMesh a tensor of this process: it is of no mesh");
    await using ended = others.activate();
    await ended.end();
    expect(() => all.toMesh(ended)).toThrow(/it is not active any more/);
  });

  function tensorOf(index: number): Tensor {
    return torch.full([1], index, { dtype: "int64" });
  }
});

describeTensors("NaN", () => {
  test("fails the operation if refuseNaN is set, with the operation and its line", async () => {
    await using procs = thisHost().spawnProcs({ gpus: 1 });
    await procs.activate(
      async () => {
        const x = torch.ones([2, 3]).sub(1);
        const infinite = x.log();
        expect((await inspect(infinite)).toArray()).toEqual([
          [-Infinity, -Infinity, -Infinity],
          [-Infinity, -Infinity, -Infinity],
        ]);
        const wrong = x.div(x);
        const error = await inspect(wrong.add(1)).catch((reason) => reason);
        expect(error).toMatchObject({ code: "ERR_TENSOR_FAILED", op: "aten::div.Tensor" });
        expect(error.message).toMatch(
          /redistribute\.test\.ts:\d+:\d+: aten::div\.Tensor failed: it produced NaN, first at \[0, 0\]$/,
        );
        // Operations in place are checked as well.
        infinite.sub_(infinite);
        await expect(inspect(infinite)).rejects.toThrow("aten::sub_.Tensor failed: it produced NaN, first at [0, 0]");
      },
      { refuseNaN: true },
    );
    await procs.activate(async () => {
      const x = torch.zeros([1]);
      expect((await inspect(x.div(x))).toArray()).toEqual([Number.NaN]);
    });
  });
});
