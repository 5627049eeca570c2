/**
 * Random numbers that are determined by a seed: sfc32 by Chris Doty-Humphrey (PractRand), seeded by splitmix32. Streams
 * of one seed are independent, so additional draws from one stream do not change the others.
 */
import type { Random } from "../link/clock.js";

/**
 * Random numbers that a seed decides. Streams of the same seed with different names are independent. The generator is
 * sfc32 by Chris Doty-Humphrey (PractRand), seeded by splitmix32.
 */
export class Seeded implements Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /**
   * Starts a stream of numbers.
   *
   * @param seed an integer
   * @param stream a name that tells streams of the same seed apart
   */
  constructor(seed: number, stream: string) {
    let state = Math.imul(seed | 0, 0x9e3779b1) ^ Math.floor(seed / 2 ** 32);
    for (let i = 0; i < stream.length; i++) state = Math.imul(state ^ stream.charCodeAt(i), 0x01000193);
    const next = (): number => {
      state = (state + 0x9e3779b9) | 0;
      let z = state;
      z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
      z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
      return z ^ (z >>> 15);
    };
    this.#a = next();
    this.#b = next();
    this.#c = next();
    for (let i = 0; i < 12; i++) this.bits();
  }

  /** Returns 32 uniform bits as a signed integer. */
  bits(): number {
    const t = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + t) | 0;
    return t;
  }

  /** Returns a uniform number from 0 up to, but not including, 1. */
  number(): number {
    return (this.bits() >>> 0) / 2 ** 32;
  }

  /** Returns a uniform integer of 64 bits that is at least 2. */
  id(): bigint {
    const id = (BigInt(this.bits() >>> 0) << 32n) | BigInt(this.bits() >>> 0);
    return id < 2n ? this.id() : id;
  }

  /**
   * Returns a uniform integer.
   *
   * @param below the result is at least 0 and less than this integer, which is at least 1
   */
  int(below: number): number {
    return Math.floor(this.number() * below);
  }

  /**
   * Returns a uniform number.
   *
   * @param low the smallest result
   * @param high the result is less than this number
   */
  between(low: number, high: number): number {
    return low + this.number() * (high - low);
  }

  /**
   * Returns true with a probability.
   *
   * @param probability from 0 to 1
   */
  chance(probability: number): boolean {
    return this.number() < probability;
  }

  /** Returns one element of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    return list[this.int(list.length)]!;
  }
}
