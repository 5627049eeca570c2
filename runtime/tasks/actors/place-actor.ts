/** Chooses the host of an actor. This is data alone: the loads were asked for before. */
import { ResourceUnavailableError } from "../errors.js";
import { amountsOf, formatAmounts } from "../host/resources.js";

/** The amounts of resources by name. */
export type Amounts = Readonly<Record<string, number>>;

/** A host, and how much of it is in use. */
export interface HostState {
  /** The number of the host in the context, from 0. */
  readonly host: number;
  readonly total: Amounts;
  readonly free: Amounts;
  /** The number of requests that wait for resources. */
  readonly waiting: number;
  /** The number of actors of the context. */
  readonly actors: number;
}

/**
 * Returns the host on which an actor is created: of those that have the resources free, the one with the fewest actors. If
 * none has them free, the one with the fewest requests that wait.
 *
 * @param label the name of the actor, for messages
 * @throws ResourceUnavailableError if no host has as much in all
 */
export function chooseHost(label: string, wanted: Amounts, hosts: readonly HostState[]): number {
  const able = hosts.filter(({ total }) => hasAll(total, wanted));
  if (able.length === 0) throw new ResourceUnavailableError(describeLack(label, wanted, hosts));
  const ready = able.filter(({ free, waiting }) => waiting === 0 && hasAll(free, wanted));
  const [first] = (ready.length > 0 ? ready : able).sort(
    (a, b) => (ready.length > 0 ? 0 : a.waiting - b.waiting) || a.actors - b.actors || a.host - b.host,
  );
  return first!.host;
}

function hasAll(amounts: Amounts, wanted: Amounts): boolean {
  return Object.entries(wanted).every(([name, amount]) => amount <= (amounts[name] ?? 0));
}

function describeLack(label: string, wanted: Amounts, hosts: readonly HostState[]): string {
  const format = (amounts: Amounts) => formatAmounts(amountsOf(amounts));
  const failed = `cannot create actor ${label}`;
  if (hosts.length === 0) return `${failed}: the context has no host that lives`;
  const there = [...new Set(hosts.map(({ total }) => format(total)))].join(", or ");
  return `${failed}: no host of the context has ${format(wanted)}; each has ${there}`;
}
