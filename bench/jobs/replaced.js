/**
 * A program whose only host is lost and comes back: `node replaced.js <options of a job of Kubernetes as JSON>`. It makes the file `<cache>.answered`
 * after the first answer, and prints one line of JSON after the first answer of the next host, with its time in milliseconds since 1970.
 */
import { writeFileSync } from "node:fs";
import { loadJobs } from "../viceroy/prepare.js";

const options = JSON.parse(process.argv[2]);
const { makeJob, askAgain } = await loadJobs();
const job = makeJob("kubernetes", { ...options, hostTimeout: { lost: "2m" } });
const { workers } = await job.state();
const answers = askAgain(workers);
/** Asks until the actor answers, or until it does not. */
const until = async (expected) => {
  while ((await answers()) !== expected) await new Promise((resolve) => setTimeout(resolve, 20));
};
await until(true);
writeFileSync(`${options.cache}.answered`, "");
await until(false);
await until(true);
const again = Date.now();
await job.kill();
process.stdout.write(`${JSON.stringify({ again })}\n`);
process.exit(0);
