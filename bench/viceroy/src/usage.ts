import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
// V8 rejects compiled code of processes with other flags, and the runtime stores code for later processes.
setFlagsFromString("--no-expose-gc");

/** Memory of this process after a garbage collection, in bytes. */
export function usage(): { heap: number; resident: number; peak: number } {
  collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, resident: rss, peak: process.resourceUsage().maxRSS * 1024 };
}
