/** Lifetimes: tensors are memory outside of JavaScript's heap, whose size the garbage collector only guesses. */

/** What scopes keep track of. */
export interface Disposable {
  dispose(): void;
}

const open: TensorScope[] = [];

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
  readonly #made = new Set<Disposable>();
  #closed = false;

  /** Makes this scope the innermost one. */
  constructor() {
    open.push(this);
  }

  /**
   * Moves a tensor to the surrounding scope, if any, so that this scope does not dispose of it.
   *
   * @param tensor that was made in this scope
   * @returns the tensor
   */
  keep<T extends Disposable>(tensor: T): T {
    if (this.#made.delete(tensor)) scopeAround(this)?.add(tensor);
    return tensor;
  }

  /** The number of tensors that the scope will dispose of. */
  get size(): number {
    return this.#made.size;
  }

  /** @internal */
  add(tensor: Disposable): void {
    this.#made.add(tensor);
  }

  /** Ends the scope and all scopes inside it. Disposing again has no effect. */
  dispose(): void {
    if (this.#closed) return;
    this.#closed = true;
    while (open.includes(this)) {
      const ended = open.pop();
      if (ended !== this) ended?.dispose();
    }
    for (const tensor of this.#made) tensor.dispose();
    this.#made.clear();
  }

  /** Ends the scope at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** A tensor has been made. */
export function track(tensor: Disposable): void {
  open.at(-1)?.add(tensor);
}

function scopeAround(scope: TensorScope): TensorScope | undefined {
  return open[open.indexOf(scope) - 1];
}
