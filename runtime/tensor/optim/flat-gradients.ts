/**
 * Gradients one after the other in one tensor, so that processes which train together exchange one tensor and not one for each parameter, as
 * the buckets of PyTorch's DistributedDataParallel do.
 */

import type { Along } from "../mesh/collectives.js";
import { addon } from "../operation/addon.js";
import { noGrad } from "../value/grad.js";
import { isTensor, type Tensor } from "../value/tensor.js";
import { TensorScope } from "../value/tensor-scope.js";
import { call } from "../value/torch.js";

/** All of one type of elements. */
interface FlatBuffer {
  /** 1-dimensional. */
  readonly elements: Tensor;
  readonly views: readonly GradientView[];
}

interface GradientView {
  readonly parameter: Tensor;
  /** Its place in `all`, with its shape. */
  readonly view: Tensor;
}

/** The gradients of parameters in one block of memory for each type, so that one operation averages them over procs. */
export class FlatGradients {
  /** The parameters. */
  readonly parameters: readonly Tensor[];
  readonly #buffers: readonly FlatBuffer[];

  /**
   * Makes the gradients of parameters parts of the block, to which `backward` adds. Existing gradients keep their
   * values.
   *
   * @param parameters tensors that require gradients, each once
   * @throws {TypeError} when a tensor does not require gradients, or is given twice
   */
  constructor(parameters: Iterable<Tensor>) {
    this.parameters = [...parameters];
    for (const [i, parameter] of this.parameters.entries()) {
      const wrong = !isTensor(parameter)
        ? "it is no tensor"
        : !parameter.requiresGrad
          ? "it requires no gradient"
          : this.parameters.indexOf(parameter) < i
            ? "it is there twice"
            : undefined;
      if (wrong !== undefined) throw new TypeError(`cannot keep the gradient of parameter ${i}: ${wrong}`);
    }
    const byDtype = new Map<string, Tensor[]>();
    for (const parameter of this.parameters) {
      const same = byDtype.get(parameter.dtype);
      if (same === undefined) byDtype.set(parameter.dtype, [parameter]);
      else same.push(parameter);
    }
    this.#buffers = noGrad(() => [...byDtype.values()].map(createFlatBuffer));
    this.#copyStrayGradients();
    this.#attachViews();
  }

  /**
   * Sets all gradients to 0. Use it instead of `zeroGrad` of an optimizer, which removes the gradients from the block.
   */
  zero(): void {
    noGrad(() => {
      for (const { elements } of this.#buffers) elements.zero_().dispose();
    });
    this.#attachViews();
  }

  /**
   * Replaces all gradients by their averages along dimensions of the mesh. A gradient that is null on every proc stays
   * null.
   *
   * @param along one dimension of the mesh, or several
   * @throws {TensorError} when the gradients do not live on a mesh
   * @throws {RangeError} when the mesh does not have the dimension
   */
  average(along: Along): void {
    this.#copyStrayGradients();
    using _ = new TensorScope();
    noGrad(() => {
      for (const { elements } of this.#buffers) elements.copy_(elements.reduce(along, "avg"));
    });
  }

  /** Sets the gradients to null and frees the block. Disposing again has no effect. */
  dispose(): void {
    for (const { elements, views } of this.#buffers) {
      if (elements.disposed) continue;
      for (const { parameter, view } of views) {
        if (!parameter.disposed && isGradientView(parameter, view)) parameter.grad = null;
        view.dispose();
      }
      elements.dispose();
    }
  }

  /** Disposes of the gradients at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Gradients that are other tensors by now are copied to where they belong. */
  #copyStrayGradients(): void {
    using _ = new TensorScope();
    noGrad(() => {
      for (const { parameter, view } of this.#buffers.flatMap(({ views }) => views)) {
        const { grad } = parameter;
        if (grad === null) view.zero_();
        else if (!isSameMemory(grad, view)) {
          view.copy_(grad);
          parameter.grad = view;
        }
      }
    });
  }

  #attachViews(): void {
    using _ = new TensorScope();
    for (const { parameter, view } of this.#buffers.flatMap(({ views }) => views)) {
      if (!isGradientView(parameter, view)) parameter.grad = view;
    }
  }
}

function createFlatBuffer(parameters: readonly Tensor[]): FlatBuffer {
  const sizes = parameters.map(({ shape }) => shape.reduce((product, size) => product * size, 1));
  // `new_zeros` makes the block on the mesh or in the process of the parameters, even if another mesh is active.
  const elements = parameters[0]!.new_zeros([sizes.reduce((sum, size) => sum + size, 0)]);
  let at = 0;
  const views = parameters.map((parameter, i) => {
    using flat = elements.narrow(0, at, sizes[i]!);
    at += sizes[i]!;
    return { parameter, view: flat.view(parameter.shape) };
  });
  return { elements, views };
}

function isGradientView(parameter: Tensor, view: Tensor): boolean {
  const { grad } = parameter;
  return grad !== null && isSameMemory(grad, view);
}

/** Returns whether two tensors share memory, offset, shape and strides. */
function isSameMemory(one: Tensor, other: Tensor): boolean {
  const [place, also] = [addon().recordedReferenceOf(one), addon().recordedReferenceOf(other)];
  if (place !== null && also !== null) return place[0] === also[0] && place[1] === also[1];
  return place === also && (call("is_set_to", [one, other]) as unknown as boolean);
}
