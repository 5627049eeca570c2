/** The last 65,536 keys under which memory of this process was registered. */

const maxKeys = 65_536;

export class RecentKeys {
  readonly #keys = new Set<number>();

  /** Adds a key. @returns false if the key was used recently */
  add(key: number): boolean {
    if (this.#keys.has(key)) return false;
    this.#keys.add(key);
    // A set keeps the order of insertion, so the first key is the oldest.
    if (this.#keys.size > maxKeys) this.#keys.delete(this.#keys.values().next().value!);
    return true;
  }
}
