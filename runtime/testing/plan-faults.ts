/**
 * Draws the faults of a simulation from its seed before the run starts, so that the run can be repeated without some of
 * them.
 */
import { type Fault, type FaultKind, type FaultOptions, faultKinds } from "./fault.js";
import { Seeded } from "./seeded-random.js";

/** Kinds that are not drawn by default, because links that end with their connections do not survive them. */
const optInKinds: readonly FaultKind[] = ["crash-host", "pause-host", "mute"];

/** Durations in ms of faults that last for a while. */
const MIN_FAULT_MS = 5;
const DEFAULT_MAX_FAULT_MS = 3000;

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
