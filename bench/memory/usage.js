/** Memory of this process after a garbage collection, in bytes. Equal to src/usage.ts of the Viceroy program. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

export function usage() {
  collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, resident: rss, peak: process.resourceUsage().maxRSS * 1024 };
}
