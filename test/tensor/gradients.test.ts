/** Gradients of recorded operations equal the gradients that are computed locally, of the first and the second order. */
import { beforeAll, expect, test } from "vitest";
import { newerFunctions } from "../../runtime/tensor/generated/ops.js";
import { call, grad, libtorch, type Tensor, tensor, torch } from "../../runtime/tensor/index.js";
import { addon } from "../../runtime/tensor/operation/addon.js";
import { describeTensors } from "./addon.js";
import { argument, operands } from "./operands.js";
import { operations } from "./operations.js";
import { RecorderAndWorker } from "./recorder-and-worker.js";

type Place = (operand: Tensor) => Tensor;

const here: Place = (operand) => operand.clone();
const there =
  ({ recorder }: RecorderAndWorker): Place =>
  (operand) =>
    addon().sendTensor(recorder, operand) as Tensor;

/**
 * One number that depends on all of them, with derivatives that are not constant, and that do not jump at zero: there, rounding decides on
 * which side of it an element is.
 */
function oneOf(tensors: readonly Tensor[]): Tensor {
  return tensors.map((one) => one.cos().mul(1.5).abs().sum()).reduce((sum, one) => sum.add(one));
}

const requiring = (values: readonly (Tensor | null)[]) =>
  values.filter((value): value is Tensor => value?.requiresGrad === true);

/** The operands, which are made while no mesh is active. */
let all: Readonly<Record<string, Tensor>> = {};
/** Returns the results of an operation and their gradients up to an order, for each floating-point argument. */
function compute(name: string, words: readonly string[], place: Place, order: number): readonly (Tensor | null)[] {
  const leaves = new Map<string, Tensor>();
  const args = words.map((word) =>
    argument(word, (operand) => {
      const known = leaves.get(operand);
      if (known !== undefined) return known;
      const leaf = place(all[operand]!);
      if (leaf.dtype === "float32") leaf.requiresGrad = true;
      leaves.set(operand, leaf);
      return leaf;
    }),
  );
  const results = [call(name, args)].flat(3) as Tensor[];
  const computed: (Tensor | null)[] = [...results];
  const wanted = [...leaves.values()].filter((leaf) => leaf.requiresGrad);
  let from = requiring(results);
  for (let at = 1; at <= order && from.length > 0; at++) {
    const gradients = grad(oneOf(from), wanted, { createGraph: at < order });
    computed.push(...gradients);
    from = requiring(gradients);
  }
  return computed;
}

/** Computes gradients up to the highest order that libtorch supports for the operation. */
function computeHere(name: string, words: readonly string[]): readonly [number, readonly (Tensor | null)[]] {
  for (let order = 2; order > 0; order--) {
    try {
      return [order, compute(name, words, here, order)];
    } catch {
      // The loop tries a lower order.
    }
  }
  return [0, compute(name, words, here, 0)];
}

const pairs = (complex: Tensor) => torch.view_as_real(complex.resolve_conj());

/** Numbers are the same up to rounding: formulas for meshes sum in another order. */
function isClose(one: Tensor, other: Tensor): boolean {
  if (one.dtype.startsWith("complex")) return isClose(pairs(one), pairs(other));
  return (
    one.dtype === other.dtype && String(one.shape) === String(other.shape) && one.allclose(other, 1e-3, 1e-4, true)
  );
}

async function compare(
  pair: RecorderAndWorker,
  recorded: readonly (Tensor | null)[],
  local: readonly (Tensor | null)[],
): Promise<void> {
  expect(recorded.length).toBe(local.length);
  for (const [i, want] of local.entries()) {
    const got = recorded[i]!;
    if (want === null || got === null) {
      expect(got).toBe(want);
      continue;
    }
    const fetched = await pair.fetch(got);
    expect([got.shape, got.dtype], `what is known of result ${i}`).toEqual([fetched.shape, fetched.dtype]);
    expect(isClose(fetched, want.detach()), `result ${i}: ${fetched} is not ${want}`).toBe(true);
  }
}

/** Operations that libtorch 2.14 has removed. */
const dropped = ["cholesky", "qr"];

/** Returns the error message for an operation that this version of libtorch lacks. */
function lacking(name: string): string {
  const { torch: version } = libtorch();
  const [since] = newerFunctions.find(([, names]) => names.split(" ").includes(name)) ?? [];
  if (since === undefined) {
    expect(dropped).toContain(name);
    return `cannot call ${name}: libtorch ${version} has no such operation`;
  }
  return (
    `cannot call ${name}: it exists since libtorch ${since}, got libtorch ${version}; ` +
    "install a newer one, then run `npx viceroy setup --tensor` again"
  );
}

const cases = Object.entries(operations).flatMap(([name, calls]) => calls.map((text) => [name, text] as const));

describeTensors("gradients", () => {
  beforeAll(() => {
    all = operands();
  });

  test.each(cases)("%s(%s) has the same result and the same gradients on a mesh", async (name, text) => {
    if (addon().missingOperations([`aten::${name}`]).length > 0) {
      expect(() => call(name, [])).toThrow(lacking(name));
      return;
    }
    using pair = new RecorderAndWorker();
    const words = text.split(" ");
    const [order, local] = computeHere(name, words);
    const recorded = pair.run(() => compute(name, words, there(pair), order));
    await compare(pair, recorded, local);
  });

  const special: readonly (readonly [string, readonly number[][], (x: Tensor) => Tensor])[] = [
    ["max of equal elements", [[3, 1, 3, 2]], (x) => x.max()],
    ["min of equal elements", [[1, 1, 3, 1]], (x) => x.min()],
    ["max of NaN", [[1, Number.NaN, 3]], (x) => x.max()],
    ["median", [[5, 1, 4, 1, 2]], (x) => x.median()],
    ["nanmedian beside NaN", [[5, Number.NaN, 4, 1]], (x) => x.nanmedian()],
    [
      "prod without zeros",
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      (x) => x.prod(),
    ],
    [
      "prod with a zero",
      [
        [1, 0, 3],
        [4, 5, 6],
      ],
      (x) => x.prod(),
    ],
    [
      "prod with two zeros",
      [
        [1, 0, 3],
        [4, 0, 6],
      ],
      (x) => x.prod(),
    ],
    ["prod of one", [[7]], (x) => x.prod()],
    [
      "prod of a dimension with zeros",
      [
        [1, 0, 3],
        [0, 0, 6],
        [2, 3, 4],
      ],
      (x) => x.prod(1),
    ],
    [
      "prod of a dimension that is kept",
      [
        [1, 0, 3],
        [2, 5, 6],
      ],
      (x) => x.prod(-2, true),
    ],
    ["cumprod without zeros", [[1, 2, 3, 4]], (x) => x.cumprod(1)],
    [
      "cumprod with zeros",
      [
        [1, 0, 3, 4, 0, 2],
        [0, 1, 2, 0, 0, 3],
        [1, 2, 3, 4, 5, 6],
      ],
      (x) => x.cumprod(1),
    ],
    [
      "cumprod of the first dimension",
      [
        [1, 0],
        [0, 3],
        [2, 4],
      ],
      (x) => x.cumprod(0),
    ],
    [
      "trace of a matrix that is not square",
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      (x) => x.trace(),
    ],
    [
      "repeat_interleave",
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      (x) => x.repeat_interleave(3, 1),
    ],
    [
      "repeat_interleave of all",
      [
        [1, 2],
        [3, 4],
      ],
      (x) => x.repeat_interleave(2),
    ],
    [
      "index_fill with a tensor",
      [[1, 2, 3]],
      (x) => x.index_fill(1, x.detach().lt(0).to("int64").select(0, 0), x.select(0, 0).select(0, 2)),
    ],
    [
      "max_pool3d, the last window cut off",
      [new Array(125).fill(0).map((_, i) => (i * 37) % 101)],
      (x) => call("max_pool3d", [x.view([1, 5, 5, 5]), [2, 2, 2], [2, 2, 2], [0, 0, 0], [1, 1, 1], true]) as Tensor,
    ],
    [
      "lstm",
      [
        [1, 2, 3],
        [-1, 0, 1],
      ],
      (x) => {
        const state = () => x.new_zeros([1, 2, 2]);
        const weights = (inputs: number) => x.new_full([8, inputs], 0.1).cumsum(0).sin();
        return torch.lstm(
          x.unsqueeze(0),
          [state(), state()],
          [weights(3), weights(2)],
          false,
          1,
          0,
          true,
          false,
          false,
        )[0];
      },
    ],
    [
      "gru",
      [
        [1, 2, 3],
        [-1, 0, 1],
      ],
      (x) => {
        const weights = (inputs: number) => x.new_full([6, inputs], 0.1).cumsum(0).sin();
        return torch.gru(
          x.unsqueeze(0),
          x.new_ones([1, 2, 2]),
          [weights(3), weights(2)],
          false,
          1,
          0,
          true,
          false,
          false,
        )[0];
      },
    ],
  ];
  test.each(special)("%s has the same gradients on a mesh", async (_, values, f) => {
    using pair = new RecorderAndWorker();
    const run = (x: Tensor): (Tensor | null)[] => {
      x.requiresGrad = true;
      const result = f(x);
      const [first] = grad(result.mul(result).sum(), [x], { createGraph: true });
      const [alone] = grad(f(x).mul(2).sum(), [x]);
      return [result, first!, alone!, ...(first!.requiresGrad ? grad(first!.mul(first!).sum(), [x]) : [])];
    };
    const local = run(tensor(values));
    // Locally, libtorch has no second-order gradient if the first one is zero.
    await compare(pair, run(there(pair)(tensor(values))).slice(0, local.length), local);
  });

  test("masked_scatter has the same gradients on a mesh, for the tensor and for the source", async () => {
    using pair = new RecorderAndWorker();
    const run = (place: Place) => {
      const [x, source] = [place(tensor([1, 2, 3, 4])), place(tensor([5, 6, 7]))];
      x.requiresGrad = source.requiresGrad = true;
      const mixed = x.masked_scatter(place(tensor([true, false, true, false])), source);
      return grad(mixed.mul(mixed).sum(), [x, source]);
    };
    await compare(pair, run(there(pair)), run(here));
  });

  test.each([
    ["its first argument", true, false],
    ["its second argument", false, true],
  ])("an operation with two gradients computes only the gradient of %s", async (_, first, second) => {
    using pair = new RecorderAndWorker();
    const run = (place: Place) => {
      const [image, grid] = [place(all["im"]!), place(all["grid"]!)];
      image.requiresGrad = first;
      grid.requiresGrad = second;
      return grad(torch.grid_sampler(image, grid, 0, 0, false).cos().sum(), [first ? image : grid]);
    };
    await compare(
      pair,
      pair.run(() => run(there(pair))),
      run(here),
    );
  });

  const refused: readonly (readonly [string, string])[] = [
    [
      "linalg_eig sq",
      "cannot compute gradients: the shape of its result depends on elements, which are on the processes of a mesh (aten::allclose)",
    ],
    [
      "index_reduce x 0 iv y 'prod'",
      "cannot compute gradients: its result depends on elements, which are on the processes of a mesh (aten::_local_scalar_dense): use await inspect(tensor)",
    ],
    ["scatter_reduce x 0 ix y 'prod'", "(aten::_local_scalar_dense): use await inspect(tensor)"],
    [
      "linalg_det sq",
      "cannot compute gradients: its result depends on elements, which are on the processes of a mesh (aten::_local_scalar_dense): use await inspect(tensor)",
    ],
    [
      "cov x",
      "cannot run cov: its result depends on elements, which are on the processes of a mesh (aten::equal): use await inspect(tensor)",
    ],
    [
      "embedding_bag x iv iv0",
      "cannot run embedding_bag: the shape of its result depends on elements, which are on the processes of a mesh (aten::_embedding_bag)",
    ],
    ["chalf x", "cannot run chalf: its result has elements of type ComplexHalf, which tensors of a mesh cannot have"],
    ["set x y", "cannot run set.source_Tensor: it accesses more than tensors, which a worker must not do (aten::set)"],
  ];
  test.each(refused)("%s throws on a mesh at the call, with the reason", async (text, message) => {
    using pair = new RecorderAndWorker();
    const [name, ...words] = text.split(" ");
    expect(() => pair.run(() => compute(name!, words, there(pair), 2))).toThrow(message);
    // No command was sent that a process would refuse.
    expect((await pair.fetch(pair.send([1, 2]))).toArray()).toEqual([1, 2]);
  });
});
