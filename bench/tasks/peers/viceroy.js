/** Tasks of Viceroy on processes, or on threads. */
import { JobContext } from "viceroy/tasks";
import { nothing, same } from "../functions.js";

export async function start(workers, isolation) {
  const context = await JobContext.open({ procs: workers, isolation });
  return {
    nothing: () => context.get(context.run(nothing)),
    same: (n) => context.get(context.run(same, n)),
    stop: () => context.close(),
  };
}
