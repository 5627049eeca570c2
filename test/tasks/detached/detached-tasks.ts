/** Tasks of programs with detached actors. */
import { JobContext, task } from "viceroy/tasks";
import "../../contract/project/generated/registry.js";
import { RealProbe } from "../../contract/project/src/probe.js";

/** Finds a detached actor, or creates it, and returns its process. */
export const pidOfProbe = task(import.meta.url, "pidOfProbe", async (name: string) => {
  const context = JobContext.current();
  const found = await context.actor(RealProbe, [], { name, lifetime: "detached", getIfExists: true });
  return context.get(found.pid.run());
});

export const add = task(import.meta.url, "add", (a: number, b: number) => a + b);

/** Returns the indices of the GPUs that the task may use. */
export const visibleGpus = task(import.meta.url, "visibleGpus", () => process.env["CUDA_VISIBLE_DEVICES"] ?? "");
