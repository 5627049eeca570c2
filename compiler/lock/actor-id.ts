/** Draws ids of actors. */
import { createHash } from "node:crypto";

/**
 * 32 bits, not 0, that are not taken yet.
 * @param seed the same seed draws the same numbers
 */
export function drawActorId(seed: string, isTaken: (id: number) => boolean): number {
  for (let attempt = 0; ; attempt++) {
    const id = createHash("sha256").update(`${seed}/${attempt}`).digest().readUInt32BE(0);
    if (id !== 0 && !isTaken(id)) return id;
  }
}
