/** The end of a controller, in order: everything that it owns ends with it. */
import type { ProcessRuntime } from "../../proc/process/process-runtime.js";
import { settlesWithin } from "../../proc/time-limit.js";

/** Time in ms for everything to stop. */
const endLimit = 1000;

let controller: ProcessRuntime | undefined;

/** Sets the runtime of this process, which is a controller. */
export function setControllerRuntime(runtime: ProcessRuntime): void {
  controller = runtime;
}

/** Stops everything that this controller owns, and ends its process. */
export async function endController(reason: string): Promise<void> {
  const runtime = controller;
  if (runtime !== undefined) await settlesWithin(runtime.platform.clock, endLimit, runtime.stop({ reason, drain: 0 }));
  process.exit();
}
