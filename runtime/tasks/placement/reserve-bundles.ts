/** Reserves the bundles of a placement group on their hosts: all of them or none. */
import type { HostLoad } from "../../../generated/tasks.js";
import { TimeoutError } from "../../index.js";
import { ResourceUnavailableError } from "../errors.js";
import { amountsOf, formatAmounts } from "../host/resources.js";
import { type PlacementStrategy, planBundles } from "./plan-bundles.js";

type Amounts = Readonly<Record<string, number>>;

/** A host, as reservations use it. */
export interface ReservingHost {
  readonly total: Amounts;
  /** Resolves with undefined if the host has ended. */
  load(): Promise<HostLoad | undefined>;
  /** Resolves with false also if the host has ended. */
  reserve(group: bigint, bundle: number, resources: Amounts, timeout: number): Promise<boolean>;
  unreserve(group: bigint): Promise<void>;
}

/** Time, as reservations use it. */
export interface ReservingClock {
  now(): number;
  /** Resolves after `ms` milliseconds. */
  sleep(ms: number): Promise<void>;
}

/** The time in ms between two attempts, which doubles up to the second number. */
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;
/** The time in ms for which a host waits for resources that were free a moment before. */
const RESERVE_MS = 100;

/** A reservation of bundles. */
export interface GroupRequest {
  readonly group: bigint;
  readonly bundles: readonly Amounts[];
  readonly strategy: PlacementStrategy;
  /** The longest time to wait for resources, in milliseconds. */
  readonly timeout: number;
}

/**
 * Returns the index of the host of each bundle.
 * @throws ResourceUnavailableError if the hosts can never have the bundles; TimeoutError if their resources were not free in time
 */
export async function reserveBundles(
  hosts: readonly ReservingHost[],
  request: GroupRequest,
  clock: ReservingClock,
): Promise<number[]> {
  const { group, bundles, strategy, timeout } = request;
  const end = clock.now() + timeout;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const loads = await Promise.all(hosts.map((host) => host.load()));
    // A host that has ended has nothing.
    const totals = loads.map((load, i) => (load === undefined ? {} : hosts[i]!.total));
    if (planBundles(bundles, totals, strategy) === undefined) throw unavailable(request, totals);
    const free = loads.map((load) => load?.free ?? {});
    const plan = planBundles(bundles, free, strategy);
    if (plan !== undefined && (await reserveAll(hosts, group, bundles, plan))) return plan;
    if (clock.now() >= end) throw outOfTime(request, free);
    await clock.sleep(Math.min(pause, Math.max(1, end - clock.now())));
  }
}

async function reserveAll(
  hosts: readonly ReservingHost[],
  group: bigint,
  bundles: readonly Amounts[],
  plan: readonly number[],
): Promise<boolean> {
  const answers = await Promise.allSettled(
    plan.map((host, i) => hosts[host]!.reserve(group, i, bundles[i]!, RESERVE_MS)),
  );
  if (answers.every((answer) => answer.status === "fulfilled" && answer.value)) return true;
  const used = new Set(plan);
  await Promise.allSettled([...used].map((host) => hosts[host]!.unreserve(group)));
  const failed = answers.find((answer) => answer.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return false;
}

function unavailable(request: GroupRequest, totals: readonly Amounts[]): ResourceUnavailableError {
  const there = totals.map((total, i) => `host ${i} has ${formatAmounts(amountsOf(total))}`).join(", ");
  return new ResourceUnavailableError(`cannot place ${describe(request)}: ${there || "there is no host"}`);
}

function outOfTime(request: GroupRequest, free: readonly Amounts[]): TimeoutError {
  const there = free.map((amounts, i) => `host ${i} has ${formatAmounts(amountsOf(amounts))}`).join(", ");
  return new TimeoutError(`cannot place ${describe(request)} within ${request.timeout} ms: free are now: ${there}`);
}

function describe({ bundles, strategy }: GroupRequest): string {
  return `${bundles.length} bundles by "${strategy}", which need ${bundles.map((bundle) => formatAmounts(amountsOf(bundle))).join("; ")}`;
}
