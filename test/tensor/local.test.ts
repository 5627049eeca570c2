/** Tensors of this process: operations by their names, values in and out, gradients, lifetimes. */
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { tensorAddonState } from "../../runtime/native/tensor-addon.js";
import {
  call,
  emptyCache,
  float,
  grad,
  isTensor,
  libtorch,
  noGrad,
  type Tensor,
  TensorScope,
  tensor,
  tensorMemory,
  tensorOver,
  threads,
  torch,
} from "../../runtime/tensor/index.js";
import { describeTensors } from "./addon.js";

const message = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    return String(error);
  }
  return "nothing was thrown";
};

describeTensors("operations", () => {
  const a = () =>
    tensor([
      [1, 2],
      [3, 4],
    ]);

  test("are functions and methods with the names of libtorch", () => {
    expect(torch.matmul(a(), a()).toArray()).toEqual([
      [7, 10],
      [15, 22],
    ]);
    expect(a().add(a(), { alpha: 3 }).toArray()).toEqual([
      [4, 8],
      [12, 16],
    ]);
    expect(a().sum([0], { keepdim: true }).toArray()).toEqual([[4, 6]]);
    const [values, indices] = a().max(1);
    expect([values.toArray(), indices.toArray()]).toEqual([
      [2, 4],
      [1n, 1n],
    ]);
    expect(torch.split(a(), 1).map((part) => part.shape)).toEqual([
      [1, 2],
      [1, 2],
    ]);
    expect(torch.randn([2, 3], { dtype: "float64" })).toMatchObject({ shape: [2, 3], dtype: "float64" });
  });

  test("treat a number without a fraction as an integer, unless float() wraps the number", () => {
    const whole = tensor([1n, 2n]);
    expect(whole.mul(2)).toMatchObject({ dtype: "int64" });
    expect(whole.mul(2.5)).toMatchObject({ dtype: "float32" });
    expect(whole.mul(float(2))).toMatchObject({ dtype: "float32" });
    expect(whole.mul(2n ** 60n).toArray()).toEqual([2n ** 60n, 2n ** 61n]);
    expect(a().mul(2)).toMatchObject({ dtype: "float32" });
  });

  test("that have no function are called by name", () => {
    const list = [a(), tensor([1])];
    call("_foreach_add_.Scalar", [list, 1]);
    expect(list.map((one) => one.toArray())).toEqual([
      [
        [2, 3],
        [4, 5],
      ],
      [2],
    ]);
  });

  test("report the invalid argument and the valid signatures", () => {
    expect(message(() => torch.mv(a(), "b" as unknown as Tensor))).toBe(
      `TypeError: cannot call mv: argument 'vec' must be a tensor, got "b"`,
    );
    expect(message(() => (torch.mv as (one: Tensor) => unknown)(a()))).toBe(
      "TypeError: cannot call mv: argument 'vec' is missing",
    );
    expect(message(() => a().relu(...([a()] as unknown as [])))).toBe(
      "TypeError: cannot call relu: it takes 1 arguments in order, got 2",
    );
    expect(message(() => a().add(1, { beta: 2 } as unknown as { alpha: number }))).toBe(
      "TypeError: cannot call add: it has no argument 'beta'. It can be called as\n" +
        "  add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor\n" +
        "  add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    );
    expect(message(() => torch.zeros([2], { dtype: "float99" as "float32" }))).toBe(
      "TypeError: cannot call zeros: argument 'dtype' must be one of float32, float64, float16, bfloat16, int8, uint8, int16, int32, " +
        'int64, bool, complex64, complex128, got "float99"',
    );
    expect(message(() => torch.zeros([1.5]))).toBe(
      "TypeError: cannot call zeros: argument 'size' must be an array of integers, got [1.5]",
    );
    expect(message(() => call("no_such_thing", []))).toBe(
      `TypeError: cannot call no_such_thing: libtorch ${libtorch().torch} has no such operation`,
    );
    expect(message(() => call("matmull", []))).toMatch(/ has no such operation \(did you mean matmul\b.*\?\)$/);
    expect(message(() => call("add.Tensr", []))).toMatch(/ has no such operation \(did you mean add\.Tensor\b.*\?\)$/);
    const unknown = () => tensorAddonState().addon?.call(2 ** 40, undefined);
    expect(message(unknown)).toBe("TypeError: invalid operation: expected a number from operationNumber");
  });

  test("report the error of libtorch without its stack", () => {
    expect(message(() => torch.mm(a(), torch.ones([3, 3])))).toBe(
      "Error: cannot run mm: mat1 and mat2 shapes cannot be multiplied (2x2 and 3x3)",
    );
  });

  test("with invalid arguments are refused by the compiler", () => {
    // @ts-expect-error mm takes two tensors
    expect(() => torch.mm(a())).toThrow(TypeError);
    // @ts-expect-error there is no such dtype
    expect(() => torch.ones([1], { dtype: "float33" })).toThrow(TypeError);
    // @ts-expect-error text is no number
    expect(() => a().add("1")).toThrow(TypeError);
  });
});

describeTensors("values", () => {
  test("of all dtypes survive a round trip", () => {
    const views = {
      float32: Float32Array.of(1.5, -2),
      float64: Float64Array.of(1.1, 2),
      int8: Int8Array.of(-1, 2),
      uint8: Uint8Array.of(255, 2),
      int16: Int16Array.of(-300, 2),
      int32: Int32Array.of(-70_000, 2),
      int64: BigInt64Array.of(-(2n ** 60n), 2n),
    };
    for (const [dtype, view] of Object.entries(views)) {
      const made = tensor(view);
      expect(made).toMatchObject({ dtype, shape: [2] });
      expect(made.data()).toEqual(view);
    }
    expect(tensor([true, false])).toMatchObject({ dtype: "bool" });
    expect(tensor([true, false]).toArray()).toEqual([true, false]);
    expect(tensor([0.5, 2]).to("bfloat16").toArray()).toEqual([0.5, 2]);
    expect(tensor(Float32Array.of(1, 2, 3, 4), { dtype: "complex64" }).toArray()).toEqual([
      [1, 2],
      [3, 4],
    ]);
    const conjugate = tensor(Float32Array.of(1, 2), { dtype: "complex64" }).conj();
    expect([...conjugate.data<"complex64">()]).toEqual([1, -2]);
    expect(tensor(3).toArray()).toBe(3);
    expect(tensor([]).toArray()).toEqual([]);
    expect(torch.zeros([2, 0, 3]).toArray()).toEqual([[], []]);
  });

  test("of a dtype without a typed array cannot be read, but can be printed", () => {
    const half = tensor(Float32Array.of(1, 2), { dtype: "complex64" }).chalf();
    expect(message(() => half.data())).toBe(
      "TypeError: cannot read the elements of a tensor: expected one of the types float32, float64, float16, bfloat16, int8, uint8, " +
        'int16, int32, int64, bool, complex64, complex128, got ComplexHalf; convert them, with to("float32") for example',
    );
    expect(inspect(half)).toBe("Tensor(ComplexHalf[1])");
  });

  test("share memory with a typed array in both directions if requested", () => {
    const view = new Float32Array(4);
    const over = tensorOver(view, { shape: [2, 2] });
    view[3] = 7;
    expect(over.toArray()).toEqual([
      [0, 0],
      [0, 7],
    ]);
    over.add_(1);
    expect([...view]).toEqual([1, 1, 1, 8]);
    const data = over.data<"float32">();
    data[0] = 5;
    expect(view[0]).toBe(5);
  });

  test("in another memory order are copied out in logical order", () => {
    const turned = tensor([
      [1, 2],
      [3, 4],
    ]).t();
    expect([...turned.data<"float32">()]).toEqual([1, 3, 2, 4]);
  });

  test("a tensor that is used as a number throws an error with advice", () => {
    const loss = tensor([1, 2]) as unknown as number;
    expect(() => loss < 3).toThrow("cannot take Tensor(float32[2]) for a number: use item(), or operations of tensors");
    expect(() => loss * 2).toThrow(TypeError);
    expect(`${loss}`).toBe("Tensor(float32[2])");
  });

  test("that do not form a tensor are refused", () => {
    expect(() => tensor([[1], [2, 3]])).toThrow(
      "cannot make a tensor of nested arrays: those at depth 1 have different lengths, 1 and 2",
    );
    expect(() => tensor([1, "2" as unknown as number])).toThrow(
      'cannot make a tensor of nested arrays: expected a number at depth 1, got "2"',
    );
    for (const [dtype, bits, value] of [
      ["int32", 32, Number.NaN],
      ["int64", 64, 1.5],
      ["int64", 64, 2n ** 63n],
      ["uint8", 8, -1],
      ["int8", 8, 128],
    ] as const) {
      expect(() => tensor([value], { dtype })).toThrow(
        `cannot make a tensor of ${dtype}: expected integers of ${bits} bits, got ${value}`,
      );
    }
    expect(tensor([2, 0, Number.NaN], { dtype: "bool" }).toArray()).toEqual([true, false, true]);
    expect(() => tensor(new Float32Array(3), { shape: [2, 2] })).toThrow(
      "cannot make a tensor over a typed array: its shape takes 16 bytes, got 12",
    );
    expect(() => tensor(new Float32Array(3), { shape: [-1] })).toThrow("invalid shape");
    expect(() => tensor(new Float32Array(2), { dtype: "int32" })).toThrow(
      "cannot make a tensor of a Float32Array: it does not hold int32",
    );
    expect(() => tensor([1], { dtype: "float16" })).toThrow('make one of float32, and convert it by .to("float16")');
    expect(() => tensorOver(new Float64Array(new ArrayBuffer(24), 8, 1), { dtype: "complex128" })).toThrow(RangeError);
  });

  test("item() returns the only element as a number", () => {
    expect(tensor([2.5]).item()).toBe(2.5);
    expect(tensor([2n ** 60n]).item()).toBe(2n ** 60n);
    expect(() => tensor([1, 2]).item()).toThrow("cannot run item");
  });
});

describeTensors("gradients", () => {
  test("are accumulated by backward and returned by grad, up to any order", () => {
    const w = tensor([1, 2, 3], { requiresGrad: true });
    w.mul(w).sum().backward();
    w.mul(w).sum().backward();
    expect(w.grad?.toArray()).toEqual([4, 8, 12]);
    w.grad = null;
    expect(w.grad).toBeNull();
    const [first] = grad(w.mul(w).mul(w).sum(), [w], { createGraph: true });
    const [second] = grad(first!.sum(), [w]);
    expect(second!.toArray()).toEqual([6, 12, 18]);
    expect(grad(w.sum(), [tensor([1], { requiresGrad: true })])).toEqual([null]);
  });

  test("are not recorded in noGrad, which refuses async functions", () => {
    const w = tensor([1], { requiresGrad: true });
    expect(noGrad(() => w.mul(2)).requiresGrad).toBe(false);
    expect(w.mul(2).requiresGrad).toBe(true);
    expect(() => noGrad(async () => w)).toThrow("returns a promise: await outside of noGrad");
    expect(() => noGrad(() => w.mm(w))).toThrow("cannot run mm");
    expect(w.mul(2).requiresGrad).toBe(true);
  });

  test("must have the shape, dtype and mesh of their tensor", () => {
    const w = tensor([1, 2], { requiresGrad: true });
    expect(() => {
      w.grad = tensor([1]);
    }).toThrow("cannot set a gradient: it must have the shape, dtype and mesh of its tensor");
    expect(() => w.mul(2).backward()).toThrow(
      "cannot compute gradients: grad can be implicitly created only for scalar outputs",
    );
  });
});

describeTensors("lifetimes", () => {
  test("memory is counted exactly, freed by dispose, and cached for the next tensor", () => {
    emptyCache();
    const before = tensorMemory().live;
    const large = torch.empty([1 << 20]);
    expect(tensorMemory().live - before).toBe(4 << 20);
    const view = large.narrow(0, 0, 1);
    large.dispose();
    expect(tensorMemory().live - before).toBe(4 << 20);
    view.dispose();
    view.dispose();
    expect(tensorMemory().live).toBe(before);
    expect(tensorMemory().cached).toBeGreaterThanOrEqual(4 << 20);
    emptyCache();
    expect(tensorMemory().cached).toBe(0);
    expect(large.disposed).toBe(true);
    expect(() => large.add(1)).toThrow("argument 'self' must be a tensor that has not been disposed of, got a tensor");
    expect(() => large.shape).toThrow("cannot use a tensor that has been disposed of");
    expect(String(large)).toBe("Tensor(disposed)");
  });

  test("disposed tensors leave nothing for the garbage collector", () => {
    const before = tensorMemory();
    for (let i = 0; i < 100; i++) torch.zeros([1 << 10]).dispose();
    const { tensors, counted, live } = tensorMemory();
    expect({ tensors, counted, live }).toEqual({
      tensors: before.tensors,
      counted: before.counted,
      live: before.live,
    });
  });

  test("a scope disposes of the tensors that were made in it, except kept ones", () => {
    const before = tensorMemory().live;
    const outside = tensor([1]);
    let kept: Tensor;
    let inner: Tensor;
    {
      using scope = new TensorScope();
      inner = torch.zeros([1 << 16]);
      kept = scope.keep(inner.add(1));
      expect(scope.size).toBe(1);
    }
    expect([outside.disposed, inner.disposed, kept.disposed]).toEqual([false, true, false]);
    kept.dispose();
    outside.dispose();
    expect(tensorMemory().live).toBe(before);
  });

  test("a kept tensor belongs to the surrounding scope", () => {
    using outer = new TensorScope();
    {
      using scope = new TensorScope();
      scope.keep(tensor([1]));
    }
    expect(outer.size).toBe(1);
  });

  test("a typed array outlives the tensor whose memory it shares", () => {
    const made = torch.ones([1 << 16]);
    const data = made.data<"float32">();
    made.dispose();
    torch.zeros([1 << 16]).dispose();
    expect(data[100]).toBe(1);
  });

  test("threads() sets and returns the number of threads of the process", () => {
    const before = threads();
    expect(threads(1)).toBe(1);
    expect(threads(before)).toBe(before);
    expect(() => threads(0)).toThrow("invalid count: expected an integer from 1 to 4096");
  });

  test("isTensor accepts only tensors", () => {
    expect([isTensor(tensor(1)), isTensor({}), isTensor(null)]).toEqual([true, false, false]);
  });
});
