/** Tensors whose elements are elsewhere: their known properties, and the results of recorded operations. */
import { expect, test } from "vitest";
import { call, noGrad, type Tensor, tensor, torch } from "../../runtime/tensor/index.js";
import { describeTensors } from "./addon.js";
import { families } from "./families.js";
import { RecorderAndWorker } from "./recorder-and-worker.js";

describeTensors("recording", () => {
  test("the shape and the dtype are known at once, and the elements come from the worker", async () => {
    using pair = new RecorderAndWorker();
    const x = pair.send([
      [1, 2],
      [3, 4],
    ]);
    const sum = x.matmul(x).add(1).sum([0]);
    expect(sum).toMatchObject({ shape: [2], dtype: "float32", distributed: true });
    expect(String(sum)).toBe("Tensor(float32[2] on a mesh)");
    expect((await pair.fetch(sum)).toArray()).toEqual([24, 34]);
  });

  test("views and operations in place share memory on the worker", async () => {
    using pair = new RecorderAndWorker();
    const x = pair.run(() => torch.zeros([2, 3]));
    const row = x.select(0, 1);
    row.add_(2);
    x.t_();
    x.select(0, 0).mul_(3);
    expect(x.shape).toEqual([3, 2]);
    expect((await pair.fetch(x)).toArray()).toEqual([
      [0, 6],
      [0, 2],
      [0, 2],
    ]);
    expect((await pair.fetch(row)).toArray()).toEqual([6, 2, 2]);
  });

  test("gradients of the first and the second order equal those of one process", async () => {
    using pair = new RecorderAndWorker();
    const values = [
      [0.1, -0.2, 0.3],
      [0.4, 0.5, -0.6],
    ];
    const model = (w: Tensor, x: Tensor) =>
      torch.cross_entropy_loss(torch.layer_norm(x.matmul(w).relu(), [3]).mul(w.sum()), x.argmax(1));
    const local = tensor(values.concat([[0.7, 0.8, 0.9]]), { requiresGrad: true });
    model(local, tensor(values)).backward();
    const there = pair.send(values.concat([[0.7, 0.8, 0.9]]));
    there.requiresGrad = true;
    model(there, pair.send(values)).backward();
    expect((await pair.fetch(there.grad!)).toArray()).toEqual(local.grad!.toArray());
    there.grad = null;
    const squares = there.mul(there).mul(there).sum();
    squares.backward({ createGraph: true });
    const first = there.grad as Tensor | null;
    there.grad = null;
    first!.sum().backward();
    expect((await pair.fetch(there.grad!)).allclose(local.detach().mul(6))).toBe(true);
  });

  test("a training step keeps no more tensors than the step before", async () => {
    using pair = new RecorderAndWorker();
    const w = pair.run(() => torch.ones([4, 4]));
    w.requiresGrad = true;
    const counts: number[] = [];
    for (let step = 0; step < 20; step++) {
      const product = w.mul(w);
      const loss = product.sum();
      loss.backward();
      const gradient = w.grad!;
      noGrad(() => w.add_(gradient, { alpha: -0.01 }).dispose());
      w.grad = null;
      for (const one of [product, loss, gradient]) one.dispose();
      await pair.submit();
      counts.push((await pair.counts()).tensors);
    }
    expect(counts.at(-1)).toBe(counts[1]);
  });

  test("a seed gives the same random numbers again, and different ones per rank if requested", async () => {
    const draw = async (rank: number, ranks: boolean) => {
      using pair = new RecorderAndWorker(rank);
      pair.seed(7, ranks);
      const drawn = pair.run(() => torch.randn([4]).add(torch.dropout(torch.ones([4]), 0.5, true)));
      return (await pair.fetch(drawn)).toArray();
    };
    const same = await draw(0, false);
    expect(await draw(0, false)).toEqual(same);
    expect(await draw(1, false)).toEqual(same);
    const own = await draw(0, true);
    expect(await draw(0, true)).toEqual(own);
    expect(await draw(1, true)).not.toEqual(own);
  });

  test("small tensors of this process are sent by value, and large ones are refused", async () => {
    using pair = new RecorderAndWorker();
    const x = pair.send([1, 2]);
    expect((await pair.fetch(x.add(tensor([10, 20])))).toArray()).toEqual([11, 22]);
    expect(() => pair.run(() => torch.zeros([1 << 15])).add(torch.zeros([1 << 15], { device: "cpu" }))).toThrow(
      "a tensor of this process has 131072 bytes; a tensor of more than 65536 bytes must be sent to the mesh first",
    );
    // An operation that could not be recorded has no effect.
    expect((await pair.fetch(x)).toArray()).toEqual([1, 2]);
  });

  test("operations that need elements throw an error with advice", () => {
    using pair = new RecorderAndWorker();
    const x = pair.send([1, 0]);
    const elsewhere = "its result depends on elements, which are on the processes of a mesh";
    expect(() => x.nonzero()).toThrow(elsewhere);
    expect(() => x.masked_select(x.gt(0))).toThrow(elsewhere);
    expect(() => call("item", [x.sum()])).toThrow("use await inspect(tensor)");
    expect(() => torch.zeros([2], { device: "cpu" }).copy_(x)).toThrow(
      "it would write elements of a mesh to a tensor of this process: use inspect",
    );
    expect(() => x.item()).toThrow(
      "cannot call item() of a tensor of a mesh: its elements are on the processes; use await inspect(tensor)",
    );
    expect(() => x.data()).toThrow("cannot call data() of a tensor of a mesh");
    expect(() => x.to({ device: "cpu" })).toThrow("a tensor of a mesh stays there: use inspect");
  });

  test("incompatible shapes are refused at the call", () => {
    using pair = new RecorderAndWorker();
    const x = pair.send([1, 2]);
    expect(() => x.add(pair.send([1, 2, 3]))).toThrow("The size of tensor a (2) must match the size of tensor b (3)");
  });

  test("sizes and dimensions that libtorch does not check without elements are refused at the call", () => {
    const f = (...shape: number[]) => torch.ones(shape);
    const refused: Record<string, [() => unknown, string]> = {
      copy: [() => f(2, 2).copy_(f(3)), "a tensor of sizes [3] cannot be expanded to [2, 2]"],
      flip: [() => f(2, 2).flip([7]), "Dimension out of range (expected to be in range of [-2, 1], but got 7)"],
      roll: [() => f(2, 2).roll([1], [7]), "Dimension out of range"],
      tril: [() => f(2).tril(), "expected a tensor of at least 2 dimensions, got 1"],
      kthvalue: [() => f(2, 3).kthvalue(9), "expected k from 1 to 3, the size of dimension 1, got 9"],
    };
    using pair = new RecorderAndWorker();
    for (const [name, [operation, text]] of Object.entries(refused)) {
      expect(operation, `${name}, here`).toThrow();
      expect(() => pair.run(operation), name).toThrow(text);
    }
    const copied = pair.run(() => f(2, 2).copy_(f(1)).flip([-1]).tril().kthvalue(2));
    expect(copied[0].shape).toEqual([2]);
  });

  test("incompatible dtypes are refused at the call, as in one process", () => {
    const f = (...shape: number[]) => torch.ones(shape);
    const d = (...shape: number[]) => torch.ones(shape, { dtype: "float64" });
    const i = (...shape: number[]) => torch.ones(shape, { dtype: "int64" });
    const refused: Readonly<Record<string, readonly [() => unknown, string]>> = {
      matmul: [() => f(2, 3).matmul(i(3, 2)), "expected self and mat2 of one type of elements, got float32 and int64"],
      vector: [() => f(2, 3).matmul(d(3)), "expected self and vec of one type of elements, got float32 and float64"],
      batches: [() => f(1, 2, 3).bmm(d(1, 3, 2)), "expected self and mat2 of one type"],
      dot: [() => f(3).dot(d(3)), "expected self and tensor of one type"],
      layer: [() => torch.linear(f(2, 3), d(4, 3)), "of one type of elements, got float32 and float64"],
      convolution: [() => torch.conv2d(f(1, 1, 5, 5), d(1, 1, 3, 3)), "expected input and weight of one type"],
      norm: [() => torch.layer_norm(f(2, 3), [3], d(3)), "expected input and weight of one type"],
      embedding: [() => torch.embedding(f(5, 2), f(2)), "expected int64 or int32 as indices, got float32"],
      rows: [() => f(3, 2).index_select(0, f(1)), "expected int64 or int32 as index, got float32"],
      classes: [() => torch.cross_entropy_loss(f(2, 3), d(2)), "expected int64 as target, got float64"],
      labels: [() => torch.nll_loss(f(2, 3), f(2)), "expected int64 as target, got float32"],
      entropy: [() => torch.binary_cross_entropy(f(2), d(2)), "expected self and target of one type"],
      where: [() => torch.where(f(2), f(2), f(2)), "expected truth values as condition, got float32"],
      bits: [() => f(2).bitwise_and(f(2)), "expected integers or truth values as self, got float32"],
      softmax: [() => i(2).softmax(0), "expected floating-point or complex numbers as self, got int64"],
      deviation: [() => i(2).std(), "expected floating-point or complex numbers as self, got int64"],
      noise: [() => i(2).normal_(), "expected floating-point or complex numbers as self, got int64"],
    };
    using pair = new RecorderAndWorker();
    for (const [name, [operation, text]] of Object.entries(refused)) {
      expect(operation, `${name}, here`).toThrow();
      expect(() => pair.run(operation), name).toThrow(text);
    }
  });

  test("half-precision inputs are combined with full-precision weights if one process does so", async () => {
    using pair = new RecorderAndWorker();
    const normal = (): Tensor => torch.layer_norm(torch.ones([2, 2], { dtype: "bfloat16" }), [2], torch.ones([2]));
    let here: string | undefined;
    try {
      here = normal().dtype;
    } catch {
      // This libtorch does not mix these types.
    }
    if (here !== undefined) expect(pair.run(normal).dtype).toBe(here);
  });

  test("meshes are not mixed, and an ended mesh records nothing", () => {
    using one = new RecorderAndWorker();
    const x = one.send([1]);
    {
      using other = new RecorderAndWorker();
      expect(() => x.add(other.send([1]))).toThrow("cannot run add.Tensor: its tensors are of different meshes");
    }
    one.close();
    expect(() => x.add(1)).toThrow("its mesh is not active any more");
  });
});

describeTensors("recorded operations", () => {
  test.each(families)("%s has results with the recorded shape and dtype", async (_, make) => {
    using pair = new RecorderAndWorker();
    const results = pair.run(() => make()).flat() as Tensor[];
    const recorded = results.map(({ shape, dtype }) => ({ shape, dtype }));
    for (const [i, result] of results.entries()) expect(await pair.fetch(result)).toMatchObject(recorded[i]!);
  });

  test.each(families)("%s has gradients with the recorded shape and dtype", async (_, make) => {
    using pair = new RecorderAndWorker();
    const gradients = pair.run(() => {
      const leaves: Tensor[] = [];
      const results = (
        make((leaf) => {
          leaf.requiresGrad = true;
          leaves.push(leaf);
          return leaf;
        }).flat() as Tensor[]
      ).filter((result) => result.requiresGrad);
      for (const result of results) result.backward({ gradient: torch.ones_like(result), retainGraph: true });
      return leaves.flatMap((leaf) => (leaf.grad === null ? [] : [leaf.grad]));
    });
    const recorded = gradients.map(({ shape, dtype }) => ({ shape, dtype }));
    for (const [i, gradient] of gradients.entries()) expect(await pair.fetch(gradient)).toMatchObject(recorded[i]!);
  });
});
