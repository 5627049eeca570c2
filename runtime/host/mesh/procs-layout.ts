/**
 * The layout of the procs of a mesh on its hosts: on which host each proc is, and which entry of lists such as `cpus` belongs to
 * it. A proc keeps its entry when the mesh is resized; a position that is new on the hosts gets the next entry.
 */
import { baseRank, checkExtent, type Extent, extentSize, RankNumbers, type Region } from "../../shape/index.js";
import type { AttachedHost } from "../attached/attached-host.js";

/** The layout of a mesh with one extent. */
export interface ProcsLayout {
  /** The number of procs on all hosts. */
  readonly size: number;
  /** The number of entries that a list with an entry for each proc of a host needs. */
  readonly entries: number;
  /** Returns the entry of such a list for the proc of a rank. */
  readonly entryOf: (rank: number) => number;
  /** Returns the number of the host of the proc of a rank, in the mesh of hosts. */
  readonly hostNumberOf: (rank: number) => number;
  /** Returns the host of the proc of a rank; undefined for this machine. */
  readonly hostOf: (rank: number) => AttachedHost | undefined;
  /** Whether the procs are on attached hosts. */
  readonly isAttached: boolean;
}

/** The hosts of a mesh of procs. */
export interface ProcHosts {
  /** Returns the numbers of the hosts of a mesh with the given extent, in rank order. */
  readonly numbersFor: (extent: Extent) => readonly number[];
  /** Returns the attached host with a number. Undefined for this machine, which is no attached host. */
  readonly hostAt: ((number: number) => AttachedHost) | undefined;
}

/**
 * Returns the layouts of a mesh of procs for all extents that it gets.
 *
 * @param perHost the extent of the procs of one host, as it was spawned
 */
export function layoutsOf(perHost: Extent, { numbersFor, hostAt }: ProcHosts): (extent: Extent) => ProcsLayout {
  const numbers = new RankNumbers(perHost);
  const labels = Object.keys(perHost);
  return (extent) => {
    const hosts = numbersFor(extent);
    const own = checkExtent(Object.fromEntries(labels.map((label) => [label, extent[label]!])));
    const ownSize = extentSize(own);
    const hostNumberOf = (rank: number) => hosts[Math.floor(rank / ownSize)]!;
    let region: Region | undefined;
    return {
      size: extentSize(extent),
      entries: numbers.countWith(own),
      entryOf: (rank) => {
        region ??= numbers.regionOf(own);
        return baseRank(region, rank % ownSize);
      },
      hostNumberOf,
      hostOf: (rank) => hostAt?.(hostNumberOf(rank)),
      isAttached: hostAt !== undefined,
    };
  };
}
