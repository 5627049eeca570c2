/**
 * Gradients one after the other in one tensor, so that processes which train together exchange one tensor and not one for each parameter, as
 * the buckets of PyTorch's DistributedDataParallel do.
 */
import { addon } from "../addon.js";
import type { Along } from "../collectives.js";
import { noGrad } from "../grad.js";
import { TensorScope } from "../scope.js";
import { isTensor, type Tensor } from "../tensor.js";
import { call } from "../torch.js";

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

export class FlatGradients {
  readonly parameters: readonly Tensor[];
  readonly #buffers: readonly FlatBuffer[];

  /**
   * The gradients of parameters are parts of it from here on: `backward` adds to them. Those that there are keep what they are.
   * @throws TypeError where something is no parameter that requires a gradient, or is named twice
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

  /** All gradients are zero: instead of `zeroGrad` of an optimizer, after which they would have to be copied here again. */
  zero(): void {
    noGrad(() => {
      for (const { elements: all } of this.#buffers) all.zero_().dispose();
    });
    this.#attachViews();
  }

  /**
   * All gradients become those that processes have on average along dimensions of the mesh: one operation between processes for each type of
   * elements. One that is null stays null, on all of them.
   * @throws TensorError, RangeError as `reduce` does
   */
  average(along: Along): void {
    this.#copyStrayGradients();
    using _ = new TensorScope();
    noGrad(() => {
      for (const { elements: all } of this.#buffers) all.copy_(all.reduce(along, "avg"));
    });
  }

  /** Gradients are null from here on. Idempotent. */
  dispose(): void {
    for (const { elements: all, views: parts } of this.#buffers) {
      if (all.disposed) continue;
      for (const { parameter, view } of parts) {
        if (!parameter.disposed && isGradientView(parameter, view)) parameter.grad = null;
        view.dispose();
      }
      all.dispose();
    }
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Gradients that are other tensors by now are copied to where they belong. */
  #copyStrayGradients(): void {
    using _ = new TensorScope();
    noGrad(() => {
      for (const { parameter, view } of this.#buffers.flatMap(({ views: parts }) => parts)) {
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
    for (const { parameter, view } of this.#buffers.flatMap(({ views: parts }) => parts)) {
      if (!isGradientView(parameter, view)) parameter.grad = view;
    }
  }
}

function createFlatBuffer(parameters: readonly Tensor[]): FlatBuffer {
  const sizes = parameters.map(({ shape }) => shape.reduce((product, size) => product * size, 1));
  // Where the parameters are, whatever is active.
  const all = parameters[0]!.new_zeros([sizes.reduce((sum, size) => sum + size, 0)]);
  let at = 0;
  const parts = parameters.map((parameter, i) => {
    using flat = all.narrow(0, at, sizes[i]!);
    at += sizes[i]!;
    return { parameter, view: flat.view(parameter.shape) };
  });
  return { elements: all, views: parts };
}

function isGradientView(parameter: Tensor, view: Tensor): boolean {
  const { grad } = parameter;
  return grad !== null && isSameMemory(grad, view);
}

/** Whether they are the same elements in memory, seen in the same way. */
function isSameMemory(one: Tensor, other: Tensor): boolean {
  const [place, also] = [addon().recordedReferenceOf(one), addon().recordedReferenceOf(other)];
  if (place !== null && also !== null) return place[0] === also[0] && place[1] === also[1];
  return place === also && (call("is_set_to", [one, other]) as unknown as boolean);
}
