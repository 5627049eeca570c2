/** Collective operations give the result that one process computes from all parts: with the built package and processes. */
import { thisHost } from "viceroy";
import {
  type Dtype,
  grad,
  manualSeed,
  type Reduction,
  type Tensor,
  type TensorMesh,
  tensor,
  torch,
} from "viceroy/tensor";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeTensors, exchangeKinds } from "./addon.js";
import { along, groups, inspectAll } from "./mesh-parts.js";

type GroupName = keyof typeof groups;
const names = Object.keys(groups) as GroupName[];

const combine: Record<Reduction, (all: Tensor[]) => Tensor> = {
  sum: (all) => all.reduce((sum, one) => sum.add(one)),
  avg: (all) => all.reduce((sum, one) => sum.add(one)).div(all.length),
  max: (all) => all.reduce((most, one) => torch.maximum(most, one)),
  min: (all) => all.reduce((least, one) => torch.minimum(least, one)),
  prod: (all) => all.reduce((product, one) => product.mul(one)),
};
const reductions = Object.keys(combine) as Reduction[];

/** Expects each rank to have the tensor that is expected for the rank. */
async function expectParts(of: Tensor, expected: (rank: number) => Tensor): Promise<void> {
  const parts = await inspectAll(of);
  parts.forEach((part, rank) => {
    const right = expected(rank);
    expect([part.dtype, part.shape]).toEqual([right.dtype, right.shape]);
    const same =
      right.dtype.startsWith("float") || right.dtype.startsWith("bfloat") ? part.allclose(right) : part.equal(right);
    expect([rank, part.toArray(), same]).toEqual([rank, expect.anything(), true]);
  });
}

describeTensors.each(exchangeKinds)("collective operations by %s", (_, env) => {
  let procs: ReturnType<typeof start>;
  let mesh: TensorMesh;
  const start = () => thisHost().spawnProcs({ hosts: 2, gpus: 2 }, { env });
  beforeAll(() => {
    procs = start();
    mesh = procs.activate({ threads: 1 });
  });
  afterAll(async () => {
    await mesh.end();
    await procs.stop();
  });
  const rank = (dimension: "hosts" | "gpus") => mesh.run(() => procs.rank(dimension));
  const random = (shape: number[], dtype: Dtype = "float32") =>
    mesh.run(() => {
      manualSeed(7, { perRank: true });
      const numbers = torch.randn(shape).mul(4);
      return dtype === "float32" ? numbers : numbers.to(dtype);
    });

  test("reduce combines the tensors of each group", async () => {
    const x = random([3, 5]);
    const parts = await inspectAll(x);
    for (const name of names) {
      for (const reduction of reductions) {
        await expectParts(x.reduce(along(name), reduction), (rank) =>
          combine[reduction](groups[name][rank]!.map((member) => parts[member]!)),
        );
      }
    }
  });

  test("reduce supports all numeric types, and gives the same bits on all processes", async () => {
    const types: Dtype[] = ["float64", "float16", "bfloat16", "int8", "uint8", "int16", "int32", "int64"];
    for (const dtype of types) {
      const x = random([17], dtype);
      const parts = await inspectAll(x);
      for (const reduction of reductions) {
        if (reduction === "avg" && dtype.includes("int")) continue;
        const made = x.reduce(["hosts", "gpus"], reduction);
        const all = (await inspectAll(made)).map((part) => [...part.data()].map(String));
        for (const other of all) expect(other).toEqual(all[0]);
        if (dtype.includes("float16")) continue;
        await expectParts(made, () => combine[reduction](parts));
      }
    }
    const truths = rank("gpus").to("bool");
    await expectParts(truths.reduce("gpus", "max"), () => tensor(true));
  });

  test("allGather, reduceScatter and allToAll work along any dimension of the tensor", async () => {
    const x = random([4, 8]);
    const parts = await inspectAll(x);
    for (const name of names) {
      for (const dim of [0, 1, -1]) {
        const of = (rank: number) => groups[name][rank]!.map((member) => parts[member]!);
        const place = (rank: number) => groups[name][rank]!.indexOf(rank as never);
        const cut = (whole: Tensor, rank: number) => whole.chunk(groups[name][rank]!.length, dim)[place(rank)]!;
        await expectParts(x.allGather(along(name), { dim }), (rank) => torch.cat(of(rank), dim));
        await expectParts(x.reduceScatter(along(name), "sum", { dim }), (rank) => cut(combine.sum(of(rank)), rank));
        await expectParts(x.allToAll(along(name), { dim }), (rank) =>
          torch.cat(
            of(rank).map((one) => cut(one, rank)),
            dim,
          ),
        );
      }
    }
    for (const reduction of reductions) {
      await expectParts(
        x.reduceScatter("gpus", reduction),
        (rank) => combine[reduction](groups.gpus[rank]!.map((member) => parts[member]!)).chunk(2, 0)[rank % 2]!,
      );
    }
  });

  test("broadcastFrom sends one tensor to all processes, and sendTo sends each tensor to another process", async () => {
    const x = random([3]);
    const parts = await inspectAll(x);
    await expectParts(x.broadcastFrom("hosts", 1), (rank) => parts[2 + (rank % 2)]!);
    await expectParts(x.broadcastFrom(["hosts", "gpus"], 1), () => parts[1]!);
    await expectParts(x.sendTo("gpus", [1, 0]), (rank) => parts[rank ^ 1]!);
    await expectParts(x.sendTo(["hosts", "gpus"], [1, 2, 2 + 1, null]), (rank) =>
      rank === 0 ? torch.zeros([3]) : parts[rank - 1]!,
    );
    await expectParts(x.sendTo("hosts", [0, null]), (rank) => (rank < 2 ? parts[rank]! : torch.zeros([3])));
  });

  test("tensors of any size are exchanged: empty, one element, odd, and larger than the buffers", async () => {
    for (const shape of [[0], [], [1], [7], [0, 3], [100_003], [700_000, 2]]) {
      // The order of additions changes the last bits of float32.
      const x = random(shape, "float64");
      const parts = await inspectAll(x);
      const sum = x.reduce(["gpus", "hosts"], "sum");
      const [, , other] = await inspectAll(sum);
      expect(other!.shape).toEqual(shape);
      expect(other!.allclose([0, 2, 1, 3].map((rank) => parts[rank]!).reduce((all, one) => all.add(one)))).toBe(true);
      if (shape.length === 0) continue;
      const [, gathered] = await inspectAll(x.allGather("gpus"));
      expect(gathered!.equal(torch.cat([parts[0]!, parts[1]!]))).toBe(true);
    }
  });

  test("views are exchanged with their own shape and order", async () => {
    const x = random([4, 6]);
    const parts = await inspectAll(x);
    await expectParts(x.t().narrow(0, 1, 4).reduce("gpus", "sum"), (rank) =>
      combine.sum(groups.gpus[rank]!.map((member) => parts[member]!.t().narrow(0, 1, 4))),
    );
  });

  describe("gradients", () => {
    /** Each operation on a mesh, and the same operation on one process, which returns the tensor of each rank. */
    const operations: [string, (x: Tensor) => Tensor, (all: Tensor[]) => Tensor[]][] = [
      ...reductions.map((reduction): [string, (x: Tensor) => Tensor, (all: Tensor[]) => Tensor[]] => [
        `reduce by ${reduction}`,
        (x) => x.reduce("gpus", reduction),
        (all) => all.map(() => combine[reduction](all)),
      ]),
      ...reductions.map((reduction): [string, (x: Tensor) => Tensor, (all: Tensor[]) => Tensor[]] => [
        `reduceScatter by ${reduction}`,
        (x) => x.reduceScatter("gpus", reduction, { dim: 1 }),
        (all) => combine[reduction](all).chunk(2, 1),
      ]),
      ["allGather", (x) => x.allGather("gpus", { dim: 1 }), (all) => all.map(() => torch.cat(all, 1))],
      [
        "allToAll",
        (x) => x.allToAll("gpus", { dim: 1 }),
        (all) =>
          all.map((_, place) =>
            torch.cat(
              all.map((one) => one.chunk(2, 1)[place]!),
              1,
            ),
          ),
      ],
      ["broadcastFrom", (x) => x.broadcastFrom("gpus", 1), (all) => all.map(() => all[1]!)],
      ["sendTo", (x) => x.sendTo("gpus", [1, null]), (all) => [torch.zeros_like(all[0]!), all[0]!]],
    ];

    /** Depends on the tensor with a zero gradient, so that every tensor has a gradient. */
    const nothing = (x: Tensor) => x.mul(0).sum();

    test.each(operations)(
      "of %s equal those of one process with all tensors, also of the second order",
      async (_, there, here) => {
        const x = random([2, 4], "float64");
        // Each process weighs what it gets in its own way, so that what comes back from each can be told apart.
        const weight = rank("gpus").add(2).to("float64");
        const loss = (y: Tensor, by: Tensor) => y.pow(3).mul(by).sum();
        x.requiresGrad = true;
        const [first] = grad(loss(there(x), weight), [x], { createGraph: true });
        const [second] = grad(first!.pow(2).sum(), [x]);
        const values = await inspectAll(x);
        const [firsts, seconds] = await Promise.all([inspectAll(first!), inspectAll(second!)]);
        for (const group of [
          [0, 1],
          [2, 3],
        ]) {
          const all = group.map((rank) => values[rank]!.detach().clone());
          for (const one of all) one.requiresGrad = true;
          const total = here(all)
            .map((y, place) => loss(y, tensor(place + 2, { dtype: "float64" })))
            .concat(all.map(nothing))
            .reduce((sum, one) => sum.add(one));
          const expected = grad(total, all, { createGraph: true });
          const twice = grad(
            [...expected.map((one) => one!.pow(2).sum()), ...all.map(nothing)].reduce((sum, one) => sum.add(one)),
            all,
          );
          group.forEach((rank, place) => {
            expect(firsts[rank]!.allclose(expected[place]!.detach())).toBe(true);
            expect(seconds[rank]!.allclose(twice[place]!)).toBe(true);
          });
        }
      },
    );

    test("of a product are correct where an element is 0", async () => {
      const x = rank("gpus")
        .to("float32")
        .mul(tensorIn(mesh, [1, 3]))
        .add(tensorIn(mesh, [0, 1]));
      const leaf = x.detach();
      leaf.requiresGrad = true;
      const [gradient] = grad(leaf.reduce("gpus", "prod").sum(), [leaf]);
      // Process 0 has [0, 1], process 1 has [1, 4]; both losses use the products.
      await expectParts(gradient!, (rank) => tensor(rank % 2 === 0 ? [2, 8] : [0, 2]));
    });
  });
});

function tensorIn(mesh: TensorMesh, values: number[]): Tensor {
  return mesh.run(() => tensor(values));
}
