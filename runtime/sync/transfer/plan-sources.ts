/**
 * Plans from which hosts each host fetches blobs. The blobs are dealt to two stripes, each with a binary tree of all hosts below the
 * driver. The inner hosts of one tree are the leaves of the other, so every host sends about one copy in total, the driver too,
 * and the depth grows with the logarithm of the number of hosts. The idea is that of Castro et al., "SplitStream: High-Bandwidth
 * Multicast in Cooperative Environments", SOSP 2003.
 */
import type { Digest } from "../tree/digest.js";

/** The number of stripes, and the number of hosts that fetch a stripe from one host. */
export const STRIPES = 2;

/** The program, as a source. */
export const DRIVER = -1;

/** Returns the stripe of a blob, from 0. Digests are evenly distributed. */
export function stripeOf(digest: Digest): number {
  return Number.parseInt(digest.slice(-1), 16) % STRIPES;
}

/**
 * Returns the sources of a host for a stripe, in the order in which they are tried: the parent in the tree of the stripe, its parent and so
 * on, and the driver at the end. No two hosts wait for each other, because sources are nearer to the driver.
 *
 * @param rank the rank of the host, from 0
 * @param hosts the number of hosts
 * @param stripe the stripe, from 0
 */
export function sourcesOf(rank: number, hosts: number, stripe: number): number[] {
  // Half of the hosts are inner nodes: the lower half of the ranks in one tree, and the upper half in the other.
  const isReversed = stripe % 2 === 1;
  const sources: number[] = [];
  let position = isReversed ? hosts - 1 - rank : rank;
  while (position > 0) {
    position = (position - 1) >> 1;
    sources.push(isReversed ? hosts - 1 - position : position);
  }
  sources.push(DRIVER);
  return sources;
}
