/**
 * One run of a program that uses a job: `node driver.js <provider> <options as JSON> <processes per host> <kill | leave>`.
 * Prints one line of JSON, with times in milliseconds since 1970.
 */
import { readdirSync, readFileSync } from "node:fs";
import { loadJobs } from "../viceroy/prepare.js";

const [, , provider, options, each, how] = process.argv;
const begun = performance.timeOrigin;
const { makeJob, askActors } = await loadJobs();
const job = makeJob(provider, JSON.parse(options));
/** The times in ms that the hosts have taken to start, where the provider tells them, and when the last one was up. */
const took = [];
let up;
void (async () => {
  for await (const { kind, reason, at } of job.watch()) {
    const [, ms] = (kind === "running" && / (\d+) ms after its start$/.exec(reason)) || [];
    if (ms === undefined) continue;
    took.push(Number(ms));
    up = at;
  }
})();
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
const left = readdirSync("/proc").filter((pid) => isOfJob(pid, applyId)).length;
process.stdout.write(`${JSON.stringify({ applyId, begun, asked, up, took, attached, answered, killed, left })}\n`);
process.exit(0);

/** Returns whether a process of this machine belongs to a run of a job: it has its id in its environment. */
function isOfJob(pid, id) {
  try {
    return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, "latin1").includes(`VICEROY_JOB=${id}`);
  } catch {
    return false;
  }
}
