/** Environments in which programs see a wrong time, by libfaketime. */
import { execFileSync } from "node:child_process";
import { peer } from "../../peers.js";

/** Whether the program faketime is there. */
export const hasFaketime = peer("faketime") !== undefined;

/**
 * Returns the environment variables for a wrong time. Timers go on as they would.
 * @param offset such as `+1h` or `-3d`
 */
export function wrongClock(offset: string): Record<string, string> {
  const library = execFileSync(peer("faketime")!, ["-f", offset, "printenv", "LD_PRELOAD"], {
    encoding: "utf8",
  }).trim();
  return { FAKETIME: offset, LD_PRELOAD: library, FAKETIME_DONT_FAKE_MONOTONIC: "1" };
}
