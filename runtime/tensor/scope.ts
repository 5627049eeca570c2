/** Lifetimes: tensors are memory outside of JavaScript's heap, whose size the garbage collector only guesses. */

/** What scopes keep track of. */
export interface Disposable {
  dispose(): void;
}

const open: TensorScope[] = [];

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
  readonly #made = new Set<Disposable>();
  #closed = false;

  constructor() {
    open.push(this);
  }

  /** The scope around it, if any, is the one of this tensor from now on. */
  keep<T extends Disposable>(tensor: T): T {
    if (this.#made.delete(tensor)) scopeAround(this)?.add(tensor);
    return tensor;
  }

  /** Tensors of which it disposes. */
  get size(): number {
    return this.#made.size;
  }

  /** @internal */
  add(tensor: Disposable): void {
    this.#made.add(tensor);
  }

  /** Idempotent. Scopes within it end as well. */
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
