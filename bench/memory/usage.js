/** Memory of this process after a garbage collection, in bytes. The same as the program's own src/usage.ts. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

export function usage() {
  collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, resident: rss, peak: process.resourceUsage().maxRSS * 1024 };
}
