/** Tasks that use actors. The module does not import the registry of their classes: the program has done so. */
import { JobContext, task } from "viceroy/tasks";
import { MemoryCounter } from "../../contract/project/src/memory-counter.js";

export const countWithActor = task(import.meta.url, "countWithActor", async (name: string, by: number) => {
  const context = JobContext.current();
  const counter = await context.actor(MemoryCounter, [3], { name });
  const same = await context.actor(MemoryCounter, [100], { name, getIfExists: true });
  await context.get(same.increment.run(by));
  return context.get(counter.value.run());
});
