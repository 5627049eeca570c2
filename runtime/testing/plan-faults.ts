/**
 * Draws the faults of a simulation from its seed before the run starts, so that the run can be repeated without some of
 * them.
 */
import { describeValue } from "../../shared/text/describe-value.js";
import { type Fault, type FaultKind, type FaultOptions, faultKinds } from "./fault.js";
import { Seeded } from "./seeded-random.js";

/** Kinds that are not drawn by default, because links that end with their connections do not survive them. */
const optInKinds: readonly FaultKind[] = ["crash-host", "pause-host", "mute"];

/** Durations in ms of faults that last for a while. */
const MIN_FAULT_MS = 5;
const DEFAULT_MAX_FAULT_MS = 3000;

/** @throws RangeError, TypeError for invalid options */
export function planFaults(seed: number, options: FaultOptions): Fault[] {
  const { count, within, longest = DEFAULT_MAX_FAULT_MS, processes } = options;
  const isDrawn = (kind: FaultKind) => !optInKinds.includes(kind) && !(processes && kind === "slow");
  const { kinds = faultKinds.filter(isDrawn) } = options;
  if (!Number.isInteger(count) || count < 0) throw new RangeError(`cannot plan faults: expected a count, got ${count}`);
  if (!(within > 0)) throw new RangeError(`cannot plan faults: expected milliseconds above 0, got ${within}`);
  if (!(longest >= MIN_FAULT_MS)) {
    throw new RangeError(`cannot plan faults: expected longest to be at least ${MIN_FAULT_MS} ms, got ${longest}`);
  }
  const unknown = kinds.find((kind) => !faultKinds.includes(kind));
  if (unknown !== undefined || kinds.length === 0) {
    throw new TypeError(`cannot plan faults: expected kinds among ${faultKinds.join(", ")}, got ${unknown ?? "none"}`);
  }
  if (processes !== undefined && typeof processes !== "function") {
    throw new TypeError(`cannot plan faults: expected processes to be a function, got ${describeValue(processes)}`);
  }
  if (processes !== undefined && kinds.includes("slow")) {
    throw new TypeError('cannot plan faults: kind "slow" affects all processes, got it together with processes');
  }
  const random = new Seeded(seed, "faults");
  const plan = Array.from({ length: count }, () => ({
    at: random.between(0, within),
    kind: random.pick(kinds),
    which: random.number(),
    other: random.number(),
    ms: MIN_FAULT_MS * (longest / MIN_FAULT_MS) ** random.number(),
    ...(processes === undefined ? {} : { processes }),
  }));
  return plan.sort((a, b) => a.at - b.at);
}
