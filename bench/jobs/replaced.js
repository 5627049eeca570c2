/**
 * A program whose only host is lost and comes back: `node replaced.js <options of a job of Kubernetes as JSON>`. It deletes the pod after the first
 * answer, and prints one line of JSON, with times in milliseconds since 1970: when the pod was gone, when the next one was made and was
 * Ready, and when it has answered.
 */
import { loadJobs } from "../viceroy/prepare.js";
import { isReady, podEvents } from "./pod-events.js";

const options = JSON.parse(process.argv[2]);
const { namespace } = options;
const { makeJob, askAgain } = await loadJobs();
const { core, when } = await podEvents(options);
const isOfJob = ({ pod }) => pod.metadata.labels?.["viceroy/job"] === options.name;
const job = makeJob("kubernetes", { ...options, hostTimeout: { lost: "2m" } });
const { workers } = await job.state();
const answers = askAgain(workers);
/** Asks until the actor answers, or until it does not. */
const until = async (expected) => {
  while ((await answers()) !== expected) await new Promise((resolve) => setTimeout(resolve, 20));
};
await until(true);
const { items } = await core.listNamespacedPod({ namespace, labelSelector: `viceroy/job=${options.name}` });
const { name } = items[0].metadata;
await core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 1 });
await until(false);
await until(true);
const answered = Date.now();
const gone = await when((event) => event.type === "DELETED" && event.pod.metadata.name === name);
const isNext = (event) => isOfJob(event) && event.pod.metadata.name !== name;
const created = await when(isNext);
const ready = await when((event) => isNext(event) && isReady(event));
await job.kill();
process.stdout.write(`${JSON.stringify({ gone, created, ready, answered })}\n`);
process.exit(0);
