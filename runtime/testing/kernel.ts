/**
 * What the simulator takes of the runtime. It is a bundle of its own: programs that simulate nothing load none of it, and
 * what it does take must be the one instance that the program has.
 */
export { neverDropped } from "../actor/collector.js";
export { currentTurn, runInTurn, setMainRoot } from "../actor/context.js";
export { HostListener } from "../host/daemon/reception.js";
export { defaultLastingLimits } from "../link/lasting/limits.js";
export { defaultLimits } from "../link/limits.js";
export { runChild } from "../proc/child.js";
export { currentRuntime, ProcessRuntime } from "../proc/local.js";
