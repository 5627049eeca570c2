/** Two ends of a pipe inside this process, for tests of what lies above: of the kind that the tests run on. */
import { systemRandom } from "../../runtime/link/clock.js";
import { inProcessPipePair } from "../../runtime/link/transport/in-process/pipe.js";
import type { Pipe } from "../../runtime/link/transport/pipe.js";
import { joinSharedMemory, offerSharedMemory } from "../../runtime/link/transport/shared-memory/pipe.js";
import { LINKS_VARIABLE, sharedMemoryAddon } from "../../runtime/link/transport/shared-memory/select-addon.js";

/** Whether the tests run on shared memory: vitest.config.ts. */
export const onMemory = process.env[LINKS_VARIABLE] === "memory";

/** The first end is that of who has dialled. */
export function pipePair(): readonly [Pipe, Pipe] {
  const [near, far] = inProcessPipePair();
  if (!onMemory) return [near, far];
  return [offerSharedMemory(near, systemRandom, sharedMemoryAddon), joinSharedMemory(far, sharedMemoryAddon)];
}
