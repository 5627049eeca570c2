/** Finds the simulated process whose code is running. */
import { currentRuntime, currentTurn } from "./kernel.js";
import { SimulatedPlatform } from "./simulated-platform.js";
import type { SimulatedProcess } from "./simulated-process.js";
import type { World } from "./world.js";

/** Returns the simulated process to which the running code belongs, or undefined outside of all of them. */
export function currentProcess(world: World): SimulatedProcess | undefined {
  if (currentTurn() === undefined) return world.scheduler.current as SimulatedProcess | undefined;
  const { platform } = currentRuntime();
  return platform instanceof SimulatedPlatform ? (platform.process as SimulatedProcess) : undefined;
}
