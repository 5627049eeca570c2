/**
 * Which ranks belong to a mesh that is resized: the numbers of its ranks, their positions, and the ranks that have left.
 * This class only keeps the numbers. The meshes of procs and of actors start the ranks that join, and stop those that leave.
 */
import {
  baseRanks,
  type Extent,
  Point,
  RankNumbers,
  type Region,
  regionExtent,
  sameRegion,
  wholeRegion,
} from "../../shape/index.js";

/** A rank that joins a mesh. */
export interface JoiningRank {
  /** The number of the rank: its base rank in the regions of the mesh. */
  readonly number: number;
  /** The position in the new extent. */
  readonly point: Point;
  /** Whether the rank has belonged to the mesh before. */
  readonly isReturning: boolean;
}

/** The change of a mesh from one extent to another. */
export interface Resizing {
  /** The region of the whole mesh with the new extent. */
  readonly region: Region;
  readonly joining: readonly JoiningRank[];
  /** The numbers of the ranks that leave, ascending. */
  readonly leaving: readonly number[];
}

export class Membership {
  readonly #extent: Extent;
  readonly #numbers: RankNumbers;
  readonly #members: Set<number>;
  readonly #places = new Map<number, Point>();
  readonly #wholes: Region[];

  /** @param extent the extent that was spawned */
  constructor(extent: Extent) {
    this.#extent = extent;
    this.#numbers = new RankNumbers(extent);
    const whole = wholeRegion(extent);
    this.#members = new Set(baseRanks(whole));
    this.#wholes = [whole];
  }

  /** The region of the whole mesh, as it was last resized. */
  get region(): Region {
    return this.#wholes.at(-1)!;
  }

  /** The number of ranks that belong to the mesh. */
  get size(): number {
    return this.#members.size;
  }

  /** How many numbers of ranks there are, including those of ranks that have left. */
  get count(): number {
    return this.#numbers.count;
  }

  has(number: number): boolean {
    return this.#members.has(number);
  }

  /** Returns the position of a rank in the extent in which it joined the mesh. */
  placeOf(number: number): Point {
    return this.#places.get(number) ?? new Point(this.#extent, number);
  }

  /** Returns whether a region is the whole mesh of some time, with the dimensions that were spawned. */
  isExtent(region: Region): boolean {
    return this.#wholes.some((whole) => sameRegion(whole, region));
  }

  /** Returns whether a region has all ranks that the mesh has now, or had when it was spawned or resized. */
  isWhole(region: Region): boolean {
    const bases = [...baseRanks(region)].join();
    return this.#wholes.some((whole) => [...baseRanks(whole)].join() === bases);
  }

  /** Returns the change to an extent, without making it. Positions that are new get numbers. */
  plan(extent: Extent): Resizing {
    const before = this.#numbers.count;
    const region = this.#numbers.regionOf(extent);
    const numbers = [...baseRanks(region)];
    const checked = regionExtent(region);
    const joining = numbers.flatMap((number, rank) =>
      this.has(number) ? [] : [{ number, point: new Point(checked, rank), isReturning: number < before }],
    );
    const staying = new Set(numbers);
    const leaving = [...this.#members].filter((number) => !staying.has(number)).sort((a, b) => a - b);
    return { region, joining, leaving };
  }

  /** Makes a planned change. */
  apply({ region, joining, leaving }: Resizing): void {
    this.remove(leaving);
    for (const { number, point } of joining) {
      this.#members.add(number);
      this.#places.set(number, point);
    }
    // Each extent is kept once: a mesh can be resized many times.
    const known = this.#wholes.findIndex((whole) => sameRegion(whole, region));
    if (known >= 0) this.#wholes.splice(known, 1);
    this.#wholes.push(region);
  }

  /** Removes ranks, because their procs have left the mesh of procs. */
  remove(numbers: readonly number[]): void {
    for (const number of numbers) this.#members.delete(number);
  }
}
