/**
 * What the simulator takes of the runtime. It is a bundle of its own: programs that simulate nothing load none of it, and
 * what it does take must be the one instance that the program has.
 */

export { currentTurn, runInTurn, setMainRoot } from "../actor/context.js";
export { neverDropped } from "../actor/proc/drop-watch.js";
export { HostListener } from "../host/daemon/host-listener.js";
export { defaultLastingLimits } from "../link/lasting/limits.js";
export { defaultLimits } from "../link/limits.js";
export { currentRuntime, ProcessRuntime } from "../proc/process/process-runtime.js";
export { runChild } from "../proc/process/run-child.js";
