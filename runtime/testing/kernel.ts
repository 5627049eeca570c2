/**
 * The parts of the runtime that the simulator uses. The simulator is a separate bundle, so that programs without
 * simulations do not load it. It must share these parts with the program, which has one instance of them.
 */

export { currentTurn, runInTurn, setMainRoot } from "../actor/context.js";
export { neverDropped } from "../actor/proc/drop-watch.js";
export { HostListener } from "../host/daemon/host-listener.js";
export { defaultLinkLimits } from "../link/link-limits.js";
export { defaultResumableLimits } from "../link/resumable/limits.js";
export { currentRuntime } from "../proc/process/current-runtime.js";
export { ProcessRuntime } from "../proc/process/process-runtime.js";
export { runChild } from "../proc/process/run-child.js";
