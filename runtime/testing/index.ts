/**
 * Simulated clusters, in which a seed decides everything that happens, faults included.
 *
 * @module
 */

export type { LinkLimits } from "../link/link-limits.js";
export type { ResumableLimits } from "../link/resumable/limits.js";
export { type ExploreOptions, explore, type Finding } from "./explore.js";
export type { CausedFault, Fault, FaultKind, FaultOptions } from "./fault.js";
export type { NetworkOptions } from "./network.js";
export type { ProcessView } from "./process-view.js";
export type { NewProcess } from "./references.js";
export type { Seeded } from "./seeded-random.js";
export { type Run, type SimulateOptions, simulate } from "./simulate.js";
export type { HostOptions, Simulation } from "./simulation.js";
export { SimulationError } from "./simulation-error.js";
