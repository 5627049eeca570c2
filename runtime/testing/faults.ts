/**
 * The faults of a simulation. They are drawn from the seed before the run starts, so that a run can be repeated without
 * some of them.
 */

import { Seeded } from "./seeded-random.js";
import type { SimulatedProcess } from "./simulated-process.js";
import type { World } from "./world.js";

/** All kinds of faults. `FaultKind` describes them. */
export const faultKinds = [
  "crash",
  "crash-host",
  "pause",
  "pause-host",
  "cut",
  "mute",
  "partition",
  "slow",
  "skew",
] as const;
/**
 * The kinds of faults.
 *
 * - `crash`: a process dies at once.
 * - `crash-host`: all processes of a host die, and other hosts notice 15 seconds later.
 * - `pause`: a process does nothing for a while.
 * - `pause-host`: all processes of a host do nothing for a while.
 * - `cut`: a connection between two hosts breaks, and bytes on their way may be lost.
 * - `mute`: a connection between two hosts delivers nothing, and both notice 15 seconds later.
 * - `partition`: two hosts do not reach each other, in one or both directions, for a while.
 * - `slow`: everything on the network takes 20 times longer for a while.
 * - `skew`: the wall clock of a process jumps.
 */
export type FaultKind = (typeof faultKinds)[number];

/** Kinds that are not drawn by default, because links that end with their connections do not survive them. */
const optInKinds: readonly FaultKind[] = ["crash-host", "pause-host", "mute"];

/** How faults are drawn from the seed. */
export interface FaultOptions {
  /** The number of faults, from 0. */
  readonly count: number;
  /** The time from the start in which the faults happen, in milliseconds of virtual time. */
  readonly within: number;
  /**
   * The kinds to draw from. A kind that is listed twice is drawn twice as often. Default: all but `crash-host`,
   * `pause-host` and `mute`.
   */
  readonly kinds?: readonly FaultKind[];
  /** The longest duration of a fault, in milliseconds of virtual time. Default: 3,000. */
  readonly longest?: number;
}

/** A planned fault. */
export interface Fault {
  /** The time from the start, in milliseconds of virtual time. */
  readonly at: number;
  /** The kind of fault. */
  readonly kind: FaultKind;
  /**
   * Selects the process, host or connection among those that exist at that time: a number from 0 up to, but not
   * including, 1.
   */
  readonly which: number;
  /** Selects a second one where the fault needs it, or a direction: a number from 0 up to, but not including, 1. */
  readonly other: number;
  /** The duration in milliseconds of virtual time. */
  readonly ms: number;
}

/** A fault that has happened. */
export interface CausedFault extends Fault {
  /** A description of the effect, for people. */
  readonly did: string;
}

/** Durations in ms of faults that last for a while. */
const MIN_FAULT_MS = 5;
const DEFAULT_MAX_FAULT_MS = 3000;
const SLOW_FACTOR = 20;

/** @throws RangeError, TypeError for invalid options */
export function planFaults(seed: number, options: FaultOptions): Fault[] {
  const { count, within, longest = DEFAULT_MAX_FAULT_MS } = options;
  const { kinds = faultKinds.filter((kind) => !optInKinds.includes(kind)) } = options;
  if (!Number.isInteger(count) || count < 0) throw new RangeError(`cannot plan faults: expected a count, got ${count}`);
  if (!(within > 0)) throw new RangeError(`cannot plan faults: expected milliseconds above 0, got ${within}`);
  if (!(longest >= MIN_FAULT_MS)) {
    throw new RangeError(`cannot plan faults: expected longest to be at least ${MIN_FAULT_MS} ms, got ${longest}`);
  }
  const unknown = kinds.find((kind) => !faultKinds.includes(kind));
  if (unknown !== undefined || kinds.length === 0) {
    throw new TypeError(`cannot plan faults: expected kinds among ${faultKinds.join(", ")}, got ${unknown ?? "none"}`);
  }
  const random = new Seeded(seed, "faults");
  const plan = Array.from({ length: count }, () => ({
    at: random.between(0, within),
    kind: random.pick(kinds),
    which: random.number(),
    other: random.number(),
    ms: MIN_FAULT_MS * (longest / MIN_FAULT_MS) ** random.number(),
  }));
  return plan.sort((a, b) => a.at - b.at);
}

/** @returns a description of the effect for people; undefined if the fault had no effect */
export function applyFault(world: World, program: SimulatedProcess, fault: Fault): string | undefined {
  const { kind, which, other, ms } = fault;
  const others = [...world.living].filter((process) => process !== program);
  const victim = pickByFraction(others, which);
  switch (kind) {
    case "crash":
      victim?.kill();
      return victim?.name;
    case "crash-host":
      return crashHost(world, pickOtherHost(others, program, which));
    case "pause":
      if (victim !== undefined) victim.busyUntil = world.scheduler.now + ms;
      return victim && `${victim.name} for ${ms.toFixed(0)} ms`;
    case "pause-host": {
      const host = pickOtherHost(others, program, which);
      for (const process of others) if (process.host === host) process.busyUntil = world.scheduler.now + ms;
      return host && `${host} for ${ms.toFixed(0)} ms`;
    }
    case "cut":
    case "mute": {
      const between = [...world.network.connections].filter(({ betweenHosts }) => betweenHosts);
      const connection = pickByFraction(between, which);
      if (kind === "cut") connection?.cut();
      else connection?.mute();
      const [near, far] = connection?.members() ?? [];
      return connection && `${near!.name} - ${far!.name}`;
    }
    case "partition": {
      const hosts = hostsOf(world.processes);
      const from = pickByFraction(hosts, which);
      const to = pickByFraction(
        hosts.filter((host) => host !== from),
        other,
      );
      if (from === undefined || to === undefined) return undefined;
      world.network.block(from, to, ms);
      const oneWay = other * 1000 - Math.floor(other * 1000) < 0.5;
      if (!oneWay) world.network.block(to, from, ms);
      return `${from} ${oneWay ? "" : "<"}-x-> ${to} for ${ms.toFixed(0)} ms`;
    }
    case "slow":
      world.network.slowDown(SLOW_FACTOR, ms);
      return `for ${ms.toFixed(0)} ms`;
    case "skew":
      if (victim !== undefined) victim.clock.skew += (other - 0.5) * 2 * 3_600_000;
      return victim?.name;
  }
}

/** @returns the host, if there is one */
export function crashHost(world: World, host: string | undefined): string | undefined {
  if (host === undefined) return undefined;
  world.network.crashedHosts.add(host);
  for (const process of [...world.living]) {
    if (process.host === host) process.finish({ message: `host ${host} has crashed` }, true);
  }
  return host;
}

/** Returns a host on which the program does not run. */
function pickOtherHost(
  others: readonly SimulatedProcess[],
  program: SimulatedProcess,
  which: number,
): string | undefined {
  return pickByFraction(
    hostsOf(others).filter((host) => host !== program.host),
    which,
  );
}

function hostsOf(processes: readonly SimulatedProcess[]): string[] {
  return [...new Set(processes.map(({ host }) => host))];
}

function pickByFraction<T>(list: readonly T[], which: number): T | undefined {
  return list[Math.floor(which * list.length)];
}
