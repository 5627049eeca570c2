/** Draws the ids of actors. */
import { createHash } from "node:crypto";

/**
 * Returns an unused 32-bit id other than 0.
 * @param seed equal seeds draw equal sequences of numbers
 */
export function drawActorId(seed: string, isTaken: (id: number) => boolean): number {
  for (let attempt = 0; ; attempt++) {
    const id = createHash("sha256").update(`${seed}/${attempt}`).digest().readUInt32BE(0);
    if (id !== 0 && !isTaken(id)) return id;
  }
}
