/** Scopes of tensors. The memory of tensors is outside of JavaScript's heap, and the garbage collector only estimates its size. */

/** An object that scopes can dispose of. */
export interface DisposableTensor {
  dispose(): void;
}

const openScopes: TensorScope[] = [];

/**
 * Disposes of all tensors that were made while it was the innermost scope, except those that were kept. Use it in
 * synchronous code only: tensors that other code makes during an `await` would be disposed of, too.
 *
 * @example
 * ```ts
 * import { type Tensor, TensorScope } from "viceroy/tensor";
 *
 * function loss(output: Tensor, target: Tensor): Tensor {
 *   using scope = new TensorScope();
 *   return scope.keep(output.sub(target).square().mean());
 * }
 * ```
 */
export class TensorScope {
  readonly #tensors = new Set<DisposableTensor>();
  #isClosed = false;

  /** Makes this scope the innermost one. */
  constructor() {
    openScopes.push(this);
  }

  /**
   * Moves a tensor to the surrounding scope, if any, so that this scope does not dispose of it.
   *
   * @param tensor a tensor that was created in this scope
   * @returns the tensor
   */
  keep<T extends DisposableTensor>(tensor: T): T {
    if (this.#tensors.delete(tensor)) enclosingScope(this)?.add(tensor);
    return tensor;
  }

  /** The number of tensors that the scope will dispose of. */
  get size(): number {
    return this.#tensors.size;
  }

  /** @internal */
  add(tensor: DisposableTensor): void {
    this.#tensors.add(tensor);
  }

  /** Ends the scope and all scopes inside it. Disposing again has no effect. */
  dispose(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    while (openScopes.includes(this)) {
      const ended = openScopes.pop();
      if (ended !== this) ended?.dispose();
    }
    for (const tensor of this.#tensors) tensor.dispose();
    this.#tensors.clear();
  }

  /** Ends the scope at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** Adds a new tensor to the innermost scope. */
export function trackInScope(tensor: DisposableTensor): void {
  openScopes.at(-1)?.add(tensor);
}

function enclosingScope(scope: TensorScope): TensorScope | undefined {
  return openScopes[openScopes.indexOf(scope) - 1];
}
