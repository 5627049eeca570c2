/**
 * Which ranks belong to a mesh that can be resized: the numbers of its ranks, their positions, and the ranks that have
 * left. The meshes of procs and of actors start the ranks that join, and stop those that leave. A program may have many
 * meshes, most of which are never resized, so the lists of ranks are allocated at the first change.
 */
import {
  baseRanks,
  type Extent,
  formatExtent,
  Point,
  RankNumbers,
  type Region,
  regionExtent,
  regionSize,
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

/** The ranks of a mesh that is or was resized, or that ranks have left. */
interface Changes {
  readonly numbers: RankNumbers;
  readonly members: Set<number>;
  /** The positions of the ranks that have joined. */
  readonly places: Map<number, Point>;
  /** The regions of the whole mesh at all times, the current one last. */
  readonly wholes: Region[];
}

export class Membership {
  readonly #extent: Extent;
  readonly #spawned: Region;
  #changes: Changes | undefined;

  /** @param extent the extent that was spawned */
  constructor(extent: Extent) {
    this.#extent = extent;
    this.#spawned = wholeRegion(extent);
  }

  /** The region of the whole mesh, as it was last resized. */
  get region(): Region {
    return this.#changes?.wholes.at(-1) ?? this.#spawned;
  }

  /** The number of ranks that belong to the mesh. */
  get size(): number {
    return this.#changes?.members.size ?? regionSize(this.#spawned);
  }

  /** How many numbers of ranks there are, including those of ranks that have left. */
  get count(): number {
    return this.#changes?.numbers.count ?? regionSize(this.#spawned);
  }

  /** Whether the mesh was resized, or ranks have left it. */
  get hasChanged(): boolean {
    return this.#changes !== undefined;
  }

  /** Returns whether a rank belongs to the mesh. */
  has(number: number): boolean {
    return this.#changes?.members.has(number) ?? number < this.size;
  }

  /** Returns whether a rank belonged to the mesh and does not any more. */
  hasLeft(number: number): boolean {
    return number < this.count && !this.has(number);
  }

  /** Returns the position of a rank in the extent in which it joined the mesh. */
  placeOf(number: number): Point {
    return this.#changes?.places.get(number) ?? new Point(this.#extent, number);
  }

  /** Returns whether a region is the whole mesh of some time, with the dimensions that were spawned. */
  isExtent(region: Region): boolean {
    return (this.#changes?.wholes ?? [this.#spawned]).some((whole) => sameRegion(whole, region));
  }

  /** Returns whether a region has all ranks that the mesh has now, or had when it was spawned or resized. */
  isWhole(region: Region): boolean {
    if (this.#changes === undefined) return regionSize(region) === this.size;
    const bases = [...baseRanks(region)].join();
    return this.#changes.wholes.some((whole) => [...baseRanks(whole)].join() === bases);
  }

  /** Returns the change to an extent, without making it. Positions that are new get numbers. */
  plan(extent: Extent): Resizing {
    const { numbers, members, places } = this.#allocate();
    const spawned = regionSize(this.#spawned);
    const region = numbers.regionOf(extent);
    const ranks = [...baseRanks(region)];
    const checked = regionExtent(region);
    const wasMember = (number: number) => number < spawned || places.has(number);
    const joining = ranks.flatMap((number, rank) =>
      members.has(number) ? [] : [{ number, point: new Point(checked, rank), isReturning: wasMember(number) }],
    );
    const staying = new Set(ranks);
    const leaving = [...members].filter((number) => !staying.has(number)).sort((a, b) => a - b);
    return { region, joining, leaving };
  }

  /** Makes a planned change. */
  apply({ region, joining, leaving }: Resizing): void {
    const { members, places, wholes } = this.#allocate();
    this.remove(leaving);
    for (const { number, point } of joining) {
      members.add(number);
      places.set(number, point);
    }
    // Each extent is kept once: a mesh can be resized many times.
    const known = wholes.findIndex((whole) => sameRegion(whole, region));
    if (known >= 0) wholes.splice(known, 1);
    wholes.push(region);
  }

  /** Removes ranks, because their procs have left the mesh of procs. */
  remove(numbers: readonly number[]): void {
    const { members } = this.#allocate();
    for (const number of numbers) members.delete(number);
  }

  #allocate(): Changes {
    this.#changes ??= {
      numbers: new RankNumbers(this.#extent),
      members: new Set(baseRanks(this.#spawned)),
      places: new Map(),
      wholes: [this.#spawned],
    };
    return this.#changes;
  }
}

/** @throws Error if a rank of the region has left the mesh. @param failed the start of the error message */
export function checkMembers(
  { name, members }: { readonly name: string; readonly members: Membership },
  region: Region,
  failed: string,
): void {
  const left = [...baseRanks(region)].filter((rank) => members.hasLeft(rank));
  if (left.length === 0) return;
  const [noun, hosts] = left.length === 1 ? ["rank", "its host"] : ["ranks", "their hosts"];
  const ranks = `${noun} ${left.join(", ")} of mesh "${name}" left`;
  const now = new Set(baseRanks(members.region));
  if (left.some((rank) => now.has(rank))) {
    throw new Error(`${failed}: ${ranks} with ${hosts}; resize mesh "${name}" along its hosts first`);
  }
  const extent = formatExtent(regionExtent(members.region));
  throw new Error(
    `${failed}: ${ranks} when the mesh was resized to ${extent}; use the mesh that the last resize returned`,
  );
}
