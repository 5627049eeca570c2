/** A driver of a job on a local cloud. Its first argument has the options as JSON. It prints what happens, and waits until it is ended. */
import { SkyPilotJob } from "viceroy/job";

const job = new SkyPilotJob(JSON.parse(process.argv[2]));
void (async () => {
  for await (const { kind, reason } of job.watch()) console.log(`${kind}: ${reason}`);
})();
await job.apply();
console.log("submitted");
await job.state();
console.log("attached");
setInterval(() => {}, 1000);
