/**
 * Simulated clusters, in which a seed decides everything that happens, faults included.
 *
 * @module
 */
export type { ResumableLimits } from "../link/lasting/limits.js";
export type { LinkLimits } from "../link/limits.js";
export { SimulationError } from "./errors.js";
export { type ExploreOptions, explore, type Finding } from "./explore.js";
export type { CausedFault, Fault, FaultKind, FaultOptions } from "./faults.js";
export type { NetworkOptions } from "./network.js";
export type { Seeded } from "./seeded.js";
export { type Run, type SimulateOptions, simulate } from "./simulate.js";
export type { HostOptions, ProcessView, Simulation } from "./simulation.js";
export type { NewProcess } from "./world.js";
