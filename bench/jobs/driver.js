/**
 * One run of a program that uses a job: `node driver.js <provider> <options as JSON> <processes per host> <kill | leave>`.
 * Prints one line of JSON, with times in milliseconds since 1970.
 */
import { loadJobs } from "../viceroy/prepare.js";

const [, , provider, options, each, how] = process.argv;
const begun = performance.timeOrigin;
const { makeJob, askActors } = await loadJobs();
const job = makeJob(provider, JSON.parse(options));
const asked = Date.now();
const { workers } = await job.state();
const attached = Date.now();
const answers = await askActors(workers, Number(each));
const answered = Date.now();
const expected = job.meshes.workers.hosts * Number(each);
if (answers !== expected) throw new Error(`expected ${expected} answers, got ${answers}`);
const { applyId } = job;
if (how === "kill") await job.kill();
const killed = Date.now();
process.stdout.write(`${JSON.stringify({ applyId, begun, asked, attached, answered, killed })}\n`);
process.exit(0);
