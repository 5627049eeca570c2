/** Commands of a mesh with randomly changed bytes, which a worker must execute or refuse. */
import { expect } from "vitest";
import { cases as rounds } from "../profile.js";
import { RecorderAndWorker } from "./recorder-and-worker.js";

/**
 * Submits commands to new workers, with a few bytes changed for each.
 * @param seed the same seed changes the same bytes
 */
export async function submitChanged(whole: Uint8Array, seed: number): Promise<void> {
  let state = seed;
  const random = (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % below;
  };
  for (let round = 0; round < rounds(500); round++) {
    using pair = new RecorderAndWorker();
    const changed = whole.slice();
    for (let i = 0; i <= random(3); i++) changed[random(changed.length)] = random(256);
    await pair.submit(changed).catch((error: Error) => expect(error.message).toContain("the command at byte "));
  }
}
