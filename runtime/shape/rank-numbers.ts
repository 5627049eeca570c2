/**
 * The numbers of the ranks of a mesh that is resized. A position, which is an index for each dimension, has the same number
 * in every extent: the number is the base rank under which processes know the member. Positions of the extent that was
 * spawned have their ranks as numbers; a position that a later extent adds gets the next free number, once and for all.
 */
import { type Extent, makeExtent } from "./extent.js";
import { points } from "./point.js";
import { type Region, regionExtent, rowMajorStrides, wholeRegion } from "./region.js";

export class RankNumbers {
  readonly #spawned: Region;
  readonly #numbers = new Map<string, number>();
  #next = 0;

  /** @param extent the extent that was spawned */
  constructor(extent: Extent) {
    this.#spawned = wholeRegion(extent);
    for (const { coordinates } of points(this.#spawned)) this.#numberOf(coordinates);
  }

  /** How many numbers there are. */
  get count(): number {
    return this.#next;
  }

  /** Returns how many numbers there are after `regionOf` has been called with an extent. */
  countWith(extent: Extent): number {
    const shape = wholeRegion(extent);
    let count = this.#next;
    for (const { coordinates } of points(shape)) if (!this.#numbers.has(this.#keyOf(coordinates))) count++;
    return count;
  }

  /**
   * Returns the region of an extent. Positions that no extent had before get numbers.
   *
   * @param extent the dimensions that were spawned, in the same order, with other sizes
   */
  regionOf(extent: Extent): Region {
    const { labels, sizes: spawned, strides } = this.#spawned;
    const sizes = labels.map((label) => extent[label]!);
    // A part of what was spawned needs no list.
    if (sizes.every((size, i) => size <= spawned[i]!)) return { labels, sizes, offset: 0, strides };
    const shape = { labels, sizes, offset: 0, strides: rowMajorStrides(sizes) };
    return { ...shape, members: Array.from(points(shape), ({ coordinates }) => this.#numberOf(coordinates)) };
  }

  #numberOf(coordinates: Readonly<Record<string, number>>): number {
    const key = this.#keyOf(coordinates);
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#next++;
      this.#numbers.set(key, number);
    }
    return number;
  }

  #keyOf(coordinates: Readonly<Record<string, number>>): string {
    return this.#spawned.labels.map((label) => coordinates[label]).join();
  }
}

/** Returns the extent of a region in which one dimension has another size. */
export function resizedExtent(region: Region, label: string, size: number): Extent {
  const extent = regionExtent(region);
  return makeExtent(region.labels.map((each) => [each, each === label ? size : extent[each]!] as const));
}
