/** A failed operation fails the tensors that depend on it, and no others. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type Tensor, tensor, torch } from "../../runtime/tensor/index.js";
import { addon } from "../../runtime/tensor/operation/addon.js";
import { describeTensors } from "./addon.js";
import { RecorderAndWorker } from "./recorder-and-worker.js";

/** Fails only on the worker, because shapes do not show that the index is out of range. */
const failing = (of: Tensor) => of.index_select(0, tensor(BigInt64Array.of(99n)));

describeTensors("a failure", () => {
  test("is reported by all dependent tensors, with the operation and its position in the code", async () => {
    using pair = new RecorderAndWorker();
    const x = pair.send([1, 2]);
    const bad = failing(x);
    const later = bad.add(1).sum();
    const error = (await pair.fetch(later).catch((failed) => failed)) as Error & { op: string; site: string };
    expect(error.message).toBe("aten::index_select failed: index out of range in self");
    expect(error.op).toBe("aten::index_select");
    expect(error.site).toMatch(new RegExp(`^${fileURLToPath(import.meta.url)}:10:\\d+$`));
    expect((await pair.fetch(x.add(1))).toArray()).toEqual([2, 3]);
  });

  test("of an operation in place fails its target and all views of the target", async () => {
    using pair = new RecorderAndWorker();
    const x = pair.send([1, 2, 3]);
    const view = x.narrow(0, 0, 2);
    const copy = x.clone();
    view.index_add_(0, tensor(BigInt64Array.of(99n)), tensor([1]));
    for (const lost of [view, x, x.add(1)]) await expect(pair.fetch(lost)).rejects.toThrow("aten::index_add_ failed");
    expect((await pair.fetch(copy)).toArray()).toEqual([1, 2, 3]);
  });

  test("of an argument fails the target of an operation in place", async () => {
    using pair = new RecorderAndWorker();
    const x = pair.send([1]);
    x.add_(failing(pair.send([1, 2])));
    await expect(pair.fetch(x)).rejects.toThrow("aten::index_select failed");
  });

  test("of a gradient fails the gradient, but not its tensor", async () => {
    using pair = new RecorderAndWorker();
    const w = pair.send([1, 2]);
    w.requiresGrad = true;
    failing(w.mul(2)).sum().backward();
    await expect(pair.fetch(w.grad!)).rejects.toThrow("failed");
    expect((await pair.fetch(w)).toArray()).toEqual([1, 2]);
  });

  test("that a later check finds fails all results of the operation and their dependents", async () => {
    using pair = new RecorderAndWorker();
    const singular = pair.send([
      [1, 2],
      [2, 4],
    ]);
    const other = pair.run(() => torch.linalg_inv(singular.add(torch.eye(2))));
    const inverse = pair.run(() => torch.linalg_inv(singular));
    const after = inverse.sum();
    const [factor, pivots] = pair.run(() => torch.linalg_lu_factor(singular));
    const root = pair.run(() => torch.linalg_cholesky(singular.neg()));
    const solved = pair.run(() => torch.linalg_solve(singular, torch.ones([2])));
    for (const [one, why] of [
      [inverse, "linalg.inv: The diagonal element 2 is zero"],
      [after, "linalg.inv: The diagonal element 2 is zero"],
      [factor, "U[2,2] is zero"],
      [pivots, "U[2,2] is zero"],
      [root, "the input is not positive-definite"],
      [solved, "The solver failed because the input matrix is singular"],
    ] as const) {
      await expect(pair.fetch(one!)).rejects.toThrow(why);
    }
    const here = torch.linalg_inv(
      tensor([
        [2, 2],
        [2, 5],
      ]),
    );
    expect((await pair.fetch(other)).toArray()).toEqual(here.toArray());
    expect((await pair.fetch(singular)).toArray()).toEqual([
      [1, 2],
      [2, 4],
    ]);
  });

  test("is reported for a tensor that does not exist", async () => {
    using pair = new RecorderAndWorker();
    await expect(addon().fetchTensor(pair.stream, 12345)).rejects.toThrow(
      "cannot fetch a tensor: there is no tensor 12345",
    );
  });

  test("does not keep the memory of the failed tensor", async () => {
    using pair = new RecorderAndWorker();
    const x = pair.run(() => torch.zeros([4, 4]));
    const bad = failing(x);
    await expect(pair.fetch(bad)).rejects.toThrow("failed");
    expect((await pair.counts()).tensors).toBe(2);
    bad.dispose();
    await pair.submit();
    expect((await pair.counts()).tensors).toBe(1);
    x.dispose();
  });
});
