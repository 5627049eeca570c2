/** The order for the program of a machine, in a file beside it. It contains no secret. */
import type { HostPlace } from "../../mesh-spec.js";
import type { ArchiveOrder } from "../../ssh/starter/starter-order.js";

export interface MachineOrder {
  readonly applyId: string;
  readonly archive: ArchiveOrder;
  /** The hosts of the cluster, in the order of its machines. */
  readonly places: readonly HostPlace[];
  /** The indexes in `places` of the hosts that run already, by the addresses of their machines. */
  readonly held: Readonly<Record<string, number>>;
  /** The ids of hosts that drivers have lost. One that still runs is ended. */
  readonly replaced: readonly string[];
  /** The time of this launch in ms since 1970. A host that it starts is newer than those of launches before. */
  readonly launch: number;
  readonly port: number;
  /** Whether the hosts get certificates. Otherwise their secret is the token that drivers must have. */
  readonly hasCertificate: boolean;
  /** The time in ms for which a host stays without a driver. */
  readonly idle: number;
  /** The record of the job, for the processes of the host. */
  readonly record: string;
}

/**
 * Returns the place of a machine.
 * @param addresses those of all machines of the cluster
 * @param own the index of this one
 * @throws Error if the cluster has more machines than hosts
 */
export function placeOfMachine(
  { places, held }: Pick<MachineOrder, "places" | "held">,
  addresses: readonly string[],
  own: number,
): HostPlace {
  const address = addresses[own];
  if (address === undefined) throw new Error(`SkyPilot gives no address of machine ${own}`);
  const heldIndex = Object.hasOwn(held, address) ? held[address] : undefined;
  if (heldIndex !== undefined) return places[heldIndex]!;
  // A machine may be another one than before, and its number, too. The hosts that run keep their ranks, and new machines take the other ones.
  const taken = new Set(addresses.flatMap((each) => (Object.hasOwn(held, each) ? [held[each]!] : [])));
  const free = places.filter((_, index) => !taken.has(index));
  const before = addresses.slice(0, own).filter((each) => !Object.hasOwn(held, each)).length;
  const place = free[before];
  if (place === undefined) throw new Error(`there is no host for machine ${own}: the job has ${places.length} on it`);
  return place;
}
