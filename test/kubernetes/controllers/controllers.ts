/** Runs all controllers of the stand-in after each change, until nothing changes any more. */
import type { Store } from "../api-server/store.js";
import { collectGarbage } from "./garbage-collector.js";
import { JobController } from "./jobs.js";
import { keepNamespaces } from "./namespaces.js";
import { schedule } from "./scheduler.js";

/** Starts the controllers. @returns a function that stops them */
export function startControllers(store: Store): () => void {
  const jobs = new JobController(store);
  let scheduled: NodeJS.Timeout | undefined;
  let due = Number.POSITIVE_INFINITY;
  let stopped = false;
  const runIn = (delay: number) => {
    if (stopped || Date.now() + delay >= due) return;
    clearTimeout(scheduled);
    due = Date.now() + delay;
    scheduled = setTimeout(run, delay);
  };
  const run = () => {
    due = Number.POSITIVE_INFINITY;
    keepNamespaces(store);
    const delay = jobs.run();
    schedule(store);
    collectGarbage(store);
    if (delay !== undefined) runIn(delay);
  };
  // Changes come in groups, and each run looks at all objects.
  const { stop } = store.follow(store.version, () => runIn(2));
  runIn(0);
  return () => {
    stopped = true;
    clearTimeout(scheduled);
    stop();
  };
}
