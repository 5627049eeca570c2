/**
 * Which actors belong to a mesh of actors, and on which procs of the mesh of procs they live. Both meshes number their
 * ranks on their own, because a mesh of actors can be on a slice, and can be resized later than its procs.
 */
import { baseRank, baseRanks, type Region, rankOfBaseRank, regionExtent } from "../../shape/index.js";
import { Membership, type Resizing } from "./membership.js";

export class ActorMembership extends Membership {
  /** The procs on which the mesh was spawned, a region of the mesh of procs. */
  readonly spawnedOn: Region;
  /** The numbers of the procs of the actors that have joined. A number that returns is on the same proc again. */
  #procsOfJoined: Map<number, number> | undefined;

  constructor(spawnedOn: Region) {
    super(regionExtent(spawnedOn));
    this.spawnedOn = spawnedOn;
  }

  /** Returns the number of the proc of an actor. */
  procOf(rank: number): number {
    return this.#procsOfJoined?.get(rank) ?? baseRank(this.spawnedOn, rank);
  }

  /** The numbers of the procs of all actors, including those that have left. */
  get procs(): number[] {
    return [...new Set([...baseRanks(this.spawnedOn), ...(this.#procsOfJoined?.values() ?? [])])];
  }

  /** Returns the rank that lives on a proc of the mesh of procs, or undefined if none does. */
  rankOn(proc: number): number | undefined {
    const rank = rankOfBaseRank(this.spawnedOn, proc) ?? this.#joinedOn(proc);
    return rank === undefined || this.hasLeft(rank) ? undefined : rank;
  }

  /** Makes a planned change. @param procs the number of the proc of each rank that joins */
  resize(resizing: Resizing, procs: readonly number[]): void {
    this.apply(resizing);
    this.#procsOfJoined ??= new Map();
    for (const [i, { number }] of resizing.joining.entries()) this.#procsOfJoined.set(number, procs[i]!);
  }

  #joinedOn(proc: number): number | undefined {
    for (const [rank, at] of this.#procsOfJoined ?? []) if (at === proc) return rank;
    return undefined;
  }
}
