/** Keys by which peers have named memory of this process: the last 65,536 of them. */

const maxKeys = 65_536;

export class RecentKeys {
  readonly #keys = new Set<number>();

  /** @returns false: it has been used before */
  add(key: number): boolean {
    if (this.#keys.has(key)) return false;
    this.#keys.add(key);
    // Sets remember the order: the first is the oldest.
    if (this.#keys.size > maxKeys) this.#keys.delete(this.#keys.values().next().value!);
    return true;
  }
}
