/** Two ends of a pipe inside this process, for tests of what lies above: of the kind that the tests run on. */
import { systemRandom } from "../../runtime/link/clock.js";
import { inProcessPipePair } from "../../runtime/link/local/pipe.js";
import type { Pipe } from "../../runtime/link/pipe.js";
import { LINKS_VARIABLE, sharedMemoryAddon } from "../../runtime/link/shared/choice.js";
import { joinSharedMemory, offerSharedMemory } from "../../runtime/link/shared/pipe.js";

/** Whether the tests run on shared memory: vitest.config.ts. */
export const onMemory = process.env[LINKS_VARIABLE] === "memory";

/** The first end is that of who has dialled. */
export function pipePair(): readonly [Pipe, Pipe] {
  const [near, far] = inProcessPipePair();
  if (!onMemory) return [near, far];
  return [offerSharedMemory(near, systemRandom, sharedMemoryAddon), joinSharedMemory(far, sharedMemoryAddon)];
}
