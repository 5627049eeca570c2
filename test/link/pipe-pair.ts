/** Creates the two ends of a pipe inside this process, of the transport on which the tests run. */
import { systemRandom } from "../../runtime/link/clock.js";
import { inProcessPipePair } from "../../runtime/link/transport/in-process/pipe.js";
import type { Pipe } from "../../runtime/link/transport/pipe.js";
import { joinSharedMemory, offerSharedMemory } from "../../runtime/link/transport/shared-memory/pipe.js";
import { LINKS_VARIABLE, sharedMemoryAddon } from "../../runtime/link/transport/shared-memory/select-addon.js";

/** Whether the tests run on shared memory, which vitest.config.ts decides. */
export const onMemory = process.env[LINKS_VARIABLE] === "memory";

/** Returns the two ends. The first one belongs to the dialler. */
export function pipePair(): readonly [Pipe, Pipe] {
  const [near, far] = inProcessPipePair();
  if (!onMemory) return [near, far];
  return [offerSharedMemory(near, systemRandom, sharedMemoryAddon), joinSharedMemory(far, sharedMemoryAddon)];
}

/** Calls `written` before each write to a pipe. */
export function observeWrites(pipe: Pipe, written: () => void): void {
  const { write, writeNow } = pipe;
  pipe.write = (chunks, done) => {
    written();
    write.call(pipe, chunks, done);
  };
  // Shared memory accepts short batches at once, so that nothing is left for `write`.
  if (writeNow === undefined) return;
  pipe.writeNow = (bytes, length) => {
    written();
    return writeNow.call(pipe, bytes, length);
  };
}
