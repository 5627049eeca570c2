/**
 * The class of tensors. The operations of libtorch (generated/ops.ts) are methods of the class; mesh/tensor-methods.ts adds the
 * methods that move elements between the procs of a mesh.
 */
import { inspect } from "node:util";
import type { Dtype } from "../../native/tensor-addon.js";
import type { DataOf } from "../argument-types.js";
import { TensorError } from "../errors.js";
import type { OperationMethods } from "../generated/ops.js";
import { methodNames } from "../generated/ops.js";
import { addon, setTensorClass } from "../operation/addon.js";
import { callOperation, TensorOperation } from "../operation/operation.js";
import { trackInScope } from "./tensor-scope.js";
import { isDtype, typedArrayOver } from "./typed-array.js";

/** The options of `backward`. */
export interface BackwardOptions<T> {
  /** The gradient of this tensor. Required if the tensor has more than one element. */
  readonly gradient?: T;
  /** Whether the graph is kept for further gradients. Default: the value of `createGraph`. */
  readonly retainGraph?: boolean;
  /** Whether the gradients can be differentiated themselves. Default: false. */
  readonly createGraph?: boolean;
}

/** Elements as nested arrays; a single value for a tensor without dimensions. */
export type Nested = number | bigint | boolean | readonly Nested[];

const itemOperation = new TensorOperation("aten::item");
const toOperation = new TensorOperation("aten::to");

/** The members of tensors beside the operations of libtorch, which are methods of tensors, too. */
export class TensorObject {
  /**
   * Called by the addon.
   *
   * @hidden
   */
  constructor() {
    trackInScope(this);
  }

  /** The size of each dimension, the outermost first. */
  get shape(): readonly number[] {
    return addon().shape(this);
  }

  /** The type of the elements. */
  get dtype(): Dtype {
    return addon().dtype(this);
  }

  /**
   * Whether operations on the tensor are recorded for gradients. It can be set on tensors that are not results of
   * operations.
   */
  get requiresGrad(): boolean {
    return addon().requiresGrad(this);
  }

  set requiresGrad(required: boolean) {
    addon().setRequiresGrad(this, required);
  }

  /**
   * The sum of the gradients that `backward` has computed; null if there is none. It can be set, for example to null
   * before the next step.
   */
  get grad(): Tensor | null {
    return addon().gradOf(this) as Tensor | null;
  }

  set grad(gradient: Tensor | null) {
    addon().setGrad(this, gradient);
  }

  /**
   * Computes the gradients of this tensor, and adds them to `grad` of the tensors that require gradients.
   *
   * @param options the gradient of this tensor, and what happens to the graph
   */
  backward({ gradient, createGraph = false, retainGraph = createGraph }: BackwardOptions<Tensor> = {}): void {
    addon().backward([this], gradient === undefined ? null : [gradient], retainGraph, createGraph);
  }

  /** Whether the elements live on the procs of a mesh. */
  get distributed(): boolean {
    return addon().recordedReferenceOf(this) !== null;
  }

  /**
   * Returns the elements in order. For a contiguous tensor, the result is its own memory, which both sides can change;
   * otherwise it is a copy.
   *
   * @throws {TensorError} when the tensor lives on a mesh
   */
  data<D extends Dtype = Dtype>(): DataOf[D] {
    this.#requireLocal("data()");
    return typedArrayOver(this.dtype, addon().toMemory(this)) as DataOf[D];
  }

  /**
   * Returns the only element.
   *
   * @throws {TensorError} when the tensor lives on a mesh
   * @throws {Error} when the tensor does not have exactly one element
   */
  item(): number | bigint | boolean {
    this.#requireLocal("item()");
    return callOperation(itemOperation, [this]) as number | bigint | boolean;
  }

  /**
   * Returns the elements as nested arrays.
   *
   * @throws {TensorError} when the tensor lives on a mesh
   */
  toArray(): Nested {
    this.#requireLocal("toArray()");
    const { dtype, shape } = this;
    const elements: ArrayLike<number | bigint> = (
      dtype === "float16" || dtype === "bfloat16" ? this.#toFloat32() : this
    ).data();
    const width = dtype.startsWith("complex") ? 2 : 1;
    const value = (at: number): Nested => {
      if (width === 2) return [elements[at]!, elements[at + 1]!];
      return dtype === "bool" ? elements[at] === 1 : elements[at]!;
    };
    const part = (dimension: number, at: number, step: number): Nested => {
      const size = shape[dimension];
      if (size === undefined) return value(at);
      const inner = step / Math.max(size, 1);
      return Array.from({ length: size }, (_, i) => part(dimension + 1, at + i * inner, inner));
    };
    return part(
      0,
      0,
      shape.reduce((product, size) => product * size, width),
    );
  }

  /** Frees the memory of the tensor, unless views or other tensors need it. Disposing again has no effect. */
  dispose(): void {
    addon().dispose(this);
  }

  /** Whether the tensor has been disposed of. */
  get disposed(): boolean {
    return addon().isDisposed(this);
  }

  /** Frees the memory at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Returns type and shape as text: `Tensor(float32[2, 3])`. */
  toString(): string {
    if (this.disposed) return "Tensor(disposed)";
    return `Tensor(${this.dtype}[${this.shape.join(", ")}]${this.distributed ? " on a mesh" : ""})`;
  }

  /**
   * Converts the tensor to text.
   *
   * @param hint `"string"`, `"default"` or `"number"`
   * @throws {TypeError} when a number is expected, as in `loss < 0.1`, whose result would be wrong
   */
  [Symbol.toPrimitive](hint: string): string {
    if (hint !== "number") return this.toString();
    const how = !this.disposed && this.distributed ? "await inspect(tensor), and item()" : "item()";
    throw new TypeError(`cannot take ${this.toString()} for a number: use ${how}, or operations of tensors`);
  }

  /** Returns type, shape and, of small tensors, the elements, for `console.log`. */
  [inspect.custom](): string {
    const here = !this.disposed && !this.distributed && isDtype(this.dtype);
    const few = here && this.shape.reduce((product, size) => product * size, 1) <= 64;
    return few ? `${this.toString()} ${inspect(this.toArray(), { depth: 8 })}` : this.toString();
  }

  #toFloat32(): TensorObject {
    return callOperation(toOperation, [this, "float32"]) as TensorObject;
  }

  #requireLocal(asked: string): void {
    if (!this.distributed) return;
    throw new TensorError(
      "ERR_TENSOR_PLACE",
      `cannot call ${asked} of a tensor of a mesh: its elements are on the processes; use await inspect(tensor)`,
    );
  }
}

/** The operations of libtorch as methods of tensors. */
export interface Methods extends OperationMethods<Tensor> {}

/** A tensor of this process or of a mesh. The operations of libtorch are methods: see {@link Methods}. */
export type Tensor = TensorObject & Methods;

for (const name of methodNames.split(" ")) {
  const operation = new TensorOperation(`aten::${name}`);
  const method = function (this: TensorObject, ...args: unknown[]): unknown {
    return callOperation(operation, [this, ...args], method);
  };
  Object.defineProperty(TensorObject.prototype, name, { value: method, configurable: true, writable: true });
}
setTensorClass(TensorObject);

/** Returns whether a value is a tensor. */
export function isTensor(value: unknown): value is Tensor {
  return value instanceof TensorObject;
}
