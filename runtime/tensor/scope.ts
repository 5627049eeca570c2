/** Lifetimes: tensors are memory outside of JavaScript's heap, whose size the garbage collector only guesses. */

/** What scopes keep track of. */
export interface DisposableTensor {
  dispose(): void;
}

const openScopes: TensorScope[] = [];

/**
 * Disposes at its end of all tensors that were made while it was the innermost scope, but for those that were kept:
 *
 *     using scope = new TensorScope();
 *     …
 *     return scope.keep(loss);
 *
 * For code that runs without `await`: what other code makes meanwhile would be disposed of as well.
 */
export class TensorScope {
  readonly #tensors = new Set<DisposableTensor>();
  #isClosed = false;

  constructor() {
    openScopes.push(this);
  }

  /** The scope around it, if any, is the one of this tensor from now on. */
  keep<T extends DisposableTensor>(tensor: T): T {
    if (this.#tensors.delete(tensor)) enclosingScope(this)?.add(tensor);
    return tensor;
  }

  /** Tensors of which it disposes. */
  get size(): number {
    return this.#tensors.size;
  }

  /** @internal */
  add(tensor: DisposableTensor): void {
    this.#tensors.add(tensor);
  }

  /** Idempotent. Scopes within it end as well. */
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

  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** A tensor has been made. */
export function trackInScope(tensor: DisposableTensor): void {
  openScopes.at(-1)?.add(tensor);
}

function enclosingScope(scope: TensorScope): TensorScope | undefined {
  return openScopes[openScopes.indexOf(scope) - 1];
}
