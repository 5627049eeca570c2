/** Makes tensors of JavaScript values. */
import { describeValue } from "../../../shared/text/describe-value.js";
import type { Dtype } from "../../native/tensor-addon.js";
import type { TensorData } from "../argument-types.js";
import { addon } from "../operation/addon.js";
import { activateCurrentRecording, currentRecording } from "../operation/recording.js";
import { checkSentSize } from "./size-limits.js";
import type { Nested, Tensor } from "./tensor.js";
import { dtypeOf, elementCount, holdsDtype, isDtype, typedArrayFrom } from "./typed-array.js";

/** The options of {@link tensor}. */
export interface TensorOptions {
  /**
   * The type of the elements. Default: that of a typed array; otherwise `float32` for numbers, `int64` for bigints, and
   * `bool` for booleans. Nested arrays cannot become `float16`, `bfloat16` or complex: convert the tensor with
   * `.to(…)`.
   */
  readonly dtype?: Dtype;
  /**
   * The size of each dimension, the outermost first. Default: that of nested arrays; one dimension for a typed array.
   */
  readonly shape?: readonly number[];
  /** Whether operations on the tensor are recorded for gradients. Default: false. */
  readonly requiresGrad?: boolean;
}

/**
 * Makes a tensor, and copies the values. Where a mesh is active, the tensor lives on the mesh, with the same elements
 * on all procs.
 *
 * @example
 * ```ts
 * import { tensor } from "viceroy/tensor";
 *
 * const x = tensor([[1, 2], [3, 4]]);
 * console.log(x.shape, x.dtype, x.mul(2).toArray()); // [2, 2] "float32" [[2, 4], [6, 8]]
 * ```
 *
 * @param values a number, nested arrays or a typed array
 * @param options type and shape
 * @throws {TypeError} when the values or options do not make a tensor
 * @throws {RangeError} when the number of values does not fit the shape
 */
export function tensor(values: Nested | TensorData, options: TensorOptions = {}): Tensor {
  const made = ArrayBuffer.isView(values) ? tensorOfView(values, options) : tensorOfValues(values, options);
  if (options.requiresGrad === true) made.requiresGrad = true;
  return made;
}

/**
 * Makes a tensor over the memory of a typed array, without copying it: both sides see what the other writes. The tensor
 * always lives in this process.
 *
 * @param view a view whose ArrayBuffer must not be detached, transferred or resized
 * @param options type and shape
 * @throws {TypeError} when the view or the options do not make a tensor
 * @throws {RangeError} when the number of elements does not fit the shape
 */
export function tensorOver(view: TensorData, options: TensorOptions = {}): Tensor {
  const { dtype, shape } = shapeAndDtypeOf(view, options);
  const made = addon().fromMemory(view, shape, dtype) as Tensor;
  if (options.requiresGrad === true) made.requiresGrad = true;
  return made;
}

function tensorOfView(view: TensorData, options: TensorOptions): Tensor {
  const { dtype, shape } = shapeAndDtypeOf(view, options);
  return createOnCurrentMesh(view.slice() as TensorData, shape, dtype);
}

/** Makes a tensor on the active mesh, or in this process if there is none. */
function createOnCurrentMesh(elements: TensorData, shape: readonly number[], dtype: Dtype): Tensor {
  activateCurrentRecording();
  const local = addon().fromMemory(elements, shape, dtype);
  const recording = currentRecording();
  if (recording === undefined) return local as Tensor;
  checkSentSize(elements.byteLength);
  const sent = addon().sendTensor(recording.recorder, local) as Tensor;
  addon().dispose(local);
  recording.recorded();
  return sent;
}

function shapeAndDtypeOf(
  view: ArrayBufferView,
  options: TensorOptions,
): { readonly dtype: Dtype; readonly shape: readonly number[] } {
  const dtype = options.dtype ?? dtypeOf(view);
  if (dtype === undefined || !isDtype(dtype))
    throw new TypeError(`cannot make a tensor of a ${view.constructor.name}: no dtype fits`);
  if (!holdsDtype(view, dtype))
    throw new TypeError(`cannot make a tensor of a ${view.constructor.name}: it does not hold ${dtype}`);
  const elements = elementCount(view, dtype);
  if (!Number.isInteger(elements)) {
    throw new RangeError(`cannot make a tensor of ${view.byteLength} bytes: ${dtype} takes more for an element`);
  }
  const shape = options.shape ?? [elements];
  return { dtype, shape };
}

function tensorOfValues(values: Nested, options: TensorOptions): Tensor {
  const flat: (number | bigint | boolean)[] = [];
  const inner = nestedShape(values);
  flattenNested(values, inner, 0, flat);
  const dtype = options.dtype ?? defaultDtype(flat);
  if (!isDtype(dtype)) throw new TypeError(`cannot make a tensor: there is no dtype "${dtype}"`);
  if (dtype === "float16" || dtype === "bfloat16" || dtype.startsWith("complex")) {
    throw new TypeError(
      `cannot make a tensor of ${dtype} of numbers: make one of float32, and convert it by .to("${dtype}")`,
    );
  }
  return createOnCurrentMesh(typedArrayFrom(dtype, flat), options.shape ?? inner, dtype);
}

function defaultDtype(flat: readonly (number | bigint | boolean)[]): Dtype {
  if (flat.length > 0 && flat.every((value) => typeof value === "boolean")) return "bool";
  return flat.some((value) => typeof value === "bigint") ? "int64" : "float32";
}

function nestedShape(values: Nested): number[] {
  const shape: number[] = [];
  for (let at: Nested | undefined = values; Array.isArray(at); at = (at as readonly Nested[])[0]) shape.push(at.length);
  return shape;
}

function flattenNested(
  values: Nested,
  shape: readonly number[],
  depth: number,
  into: (number | bigint | boolean)[],
): void {
  if (!Array.isArray(values)) {
    if (depth !== shape.length || !["number", "bigint", "boolean"].includes(typeof values)) {
      throw new TypeError(
        `cannot make a tensor of nested arrays: expected a number at depth ${depth}, got ${describeValue(values)}`,
      );
    }
    into.push(values as number | bigint | boolean);
    return;
  }
  if (values.length !== shape[depth]) {
    throw new RangeError(
      `cannot make a tensor of nested arrays: those at depth ${depth} have different lengths, ${shape[depth] ?? "none"} and ${values.length}`,
    );
  }
  for (const value of values as readonly Nested[]) flattenNested(value, shape, depth + 1, into);
}
