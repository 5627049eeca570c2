/** Addresses of pods: each has an own one of loopback, so that programs of different pods can use the same port. */

/** Gives addresses below a prefix of two numbers, such as `127.77`. */
export class Addresses {
  readonly #prefix: string;
  #given = 0;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Returns an address that has not been given before; after 64,000 they begin again. */
  next(): string {
    const number = (this.#given++ % 64_000) + 257;
    return `${this.#prefix}.${number >> 8}.${number & 255}`;
  }
}
