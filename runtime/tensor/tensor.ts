/** Tensors as users hold them. Operations are methods as well (generated/ops.ts); here is what tensors have besides. */
import { inspect } from "node:util";
import type { Dtype } from "../native/tensor-addon.js";
import { addon, setTensorClass } from "./addon.js";
import { type Along, broadcastFrom, type CutOptions, callCollective, type Reduction, sendTo } from "./collectives.js";
import { TensorError } from "./errors.js";
import type { Methods } from "./generated/ops.js";
import { methodNames } from "./generated/ops.js";
import { callOperation, Operation } from "./invoke.js";
import type { Part, TensorMesh } from "./mesh.js";
import { redistribute, redistributeToSlice } from "./moving.js";
import { trackInScope } from "./scope.js";
import { isDtype, typedArrayOver } from "./typed-array.js";
import type { DataOf } from "./types.js";

/** How gradients are computed. */
export interface BackwardOptions<T> {
  /** The gradient of this tensor; needed if it has more than one element. */
  readonly gradient?: T;
  /** The graph can be gone through again. Default: whether one is created. */
  readonly retainGraph?: boolean;
  /** Gradients can be differentiated themselves. */
  readonly createGraph?: boolean;
}

/** Elements as nested arrays; a number for a tensor without dimensions. */
export type Nested = number | bigint | boolean | readonly Nested[];

const itemOperation = new Operation("aten::item");
const toOperation = new Operation("aten::to");

/** The addon makes its instances; nobody else does. */
class TensorObject {
  constructor() {
    trackInScope(this);
  }

  /** Sizes, outermost first. */
  get shape(): readonly number[] {
    return addon().shape(this);
  }

  get dtype(): Dtype {
    return addon().dtype(this);
  }

  /** Whether operations on it are remembered for `backward`. Can be set on tensors that are no results of operations. */
  get requiresGrad(): boolean {
    return addon().requiresGrad(this);
  }

  set requiresGrad(required: boolean) {
    addon().setRequiresGrad(this, required);
  }

  /** What `backward` has added up; null if nothing. Can be set, to null before the next step. */
  get grad(): Tensor | null {
    return addon().gradOf(this) as Tensor | null;
  }

  set grad(gradient: Tensor | null) {
    addon().setGrad(this, gradient);
  }

  /** Adds the gradient of this tensor to `grad` of all those that require it. */
  backward({ gradient, createGraph = false, retainGraph = createGraph }: BackwardOptions<Tensor> = {}): void {
    addon().backward([this], gradient === undefined ? null : [gradient], retainGraph, createGraph);
  }

  /** Whether its elements are on the processes of a mesh. */
  get distributed(): boolean {
    return addon().recordedReferenceOf(this) !== null;
  }

  /**
   * The elements in order: of a contiguous tensor its own memory, which both sides can change; otherwise a copy.
   * @throws TensorError for a tensor of a mesh
   */
  data<D extends Dtype = Dtype>(): DataOf[D] {
    this.#requireLocal("data()");
    return typedArrayOver(this.dtype, addon().toMemory(this)) as DataOf[D];
  }

  /** The only element. @throws TensorError for a tensor of a mesh, Error if there are more or none */
  item(): number | bigint | boolean {
    this.#requireLocal("item()");
    return callOperation(itemOperation, [this]) as number | bigint | boolean;
  }

  /** The elements as nested arrays. @throws TensorError for a tensor of a mesh */
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

  /**
   * What the processes along dimensions of the mesh have, combined element by element; the same on all of them.
   * @throws RangeError for dimensions that the mesh has not, TensorError for a tensor of this process; so do all that follow
   */
  reduce(along: Along, reduction: Reduction): Tensor {
    return callCollective(this, "reduce", along, [reduction]);
  }

  /** What they have, one after the other along a dimension of the tensor; the same on all of them. */
  allGather(along: Along, { dim = 0 }: CutOptions = {}): Tensor {
    return callCollective(this, "allGather", along, [dim]);
  }

  /** As `reduce`, of which each has one part: the tensor is cut along one of its dimensions. */
  reduceScatter(along: Along, reduction: Reduction, { dim = 0 }: CutOptions = {}): Tensor {
    return callCollective(this, "reduceScatter", along, [reduction, dim]);
  }

  /** Each cuts its tensor into parts, sends the first to the first process, and so on, and joins those that it gets. */
  allToAll(along: Along, { dim = 0 }: CutOptions = {}): Tensor {
    return callCollective(this, "allToAll", along, [dim]);
  }

  /** What the process at one place along the dimensions has, on all of them. */
  broadcastFrom(along: Along, index: number): Tensor {
    return broadcastFrom(this, along, index);
  }

  /** What the process at place `i` has goes to the one at `to[i]`, to nobody for null. Who is sent nothing has zeros. */
  sendTo(along: Along, to: readonly (number | null)[]): Tensor {
    return sendTo(this, along, to);
  }

  /**
   * The same elements on part of the processes alone, as a tensor of that part of the mesh, without gradient: an index drops its dimension,
   * a range keeps part of it. What is done with it is done by those processes.
   * @throws RangeError for what is no part of the mesh, TensorError for a tensor of this process
   */
  sliceMesh(part: Part): Tensor {
    return redistributeToSlice(this, part);
  }

  /**
   * The same elements as a tensor of another mesh that is active, without gradient: each process has what it had itself, if it is in both
   * meshes, otherwise what the one of the same rank had.
   * @throws RangeError for a mesh of other processes that are not as many, TensorError for a tensor of this process
   */
  toMesh(mesh: TensorMesh): Tensor {
    return redistribute(this, mesh);
  }

  /** Frees its memory, unless views of it or other tensors need it. Idempotent. */
  dispose(): void {
    addon().dispose(this);
  }

  get disposed(): boolean {
    return addon().isDisposed(this);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  toString(): string {
    if (this.disposed) return "Tensor(disposed)";
    return `Tensor(${this.dtype}[${this.shape.join(", ")}]${this.distributed ? " on a mesh" : ""})`;
  }

  /** Text has what `toString` says. @throws TypeError where a number is due, as in `loss < 0.1`, which would be false in silence */
  [Symbol.toPrimitive](hint: string): string {
    if (hint !== "number") return this.toString();
    const how = !this.disposed && this.distributed ? "await inspect(tensor), and item()" : "item()";
    throw new TypeError(`cannot take ${this.toString()} for a number: use ${how}, or operations of tensors`);
  }

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

/** A tensor of this process, or of a mesh. */
export type Tensor = TensorObject & Methods;

for (const name of methodNames.split(" ")) {
  const operation = new Operation(`aten::${name}`);
  const method = function (this: TensorObject, ...args: unknown[]): unknown {
    return callOperation(operation, [this, ...args], method);
  };
  Object.defineProperty(TensorObject.prototype, name, { value: method, configurable: true, writable: true });
}
setTensorClass(TensorObject);

export function isTensor(value: unknown): value is Tensor {
  return value instanceof TensorObject;
}
