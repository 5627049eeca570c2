/**
 * Runs the small program on the hosts of a job, and then in processes that it has started on them itself. It prints what it has found out,
 * and where the tasks ran. The arguments are the provider, and its options as JSON.
 */
import { type Job, ProcessJob, SlurmJob } from "viceroy/job";
import { JobContext } from "viceroy/tasks";
import { runSmallProgram } from "../small-program.js";
import { machine } from "../small-tasks.js";

const [, , kind = "process", given = "{}"] = process.argv;
const options = JSON.parse(given);
const job = (kind === "slurm" ? new SlurmJob(options) : new ProcessJob(options)) as Job<string>;

async function runIn(context: JobContext) {
  const findings = await runSmallProgram(context);
  const refs = Array.from({ length: 8 }, () => context.run(machine, 100));
  return { findings, machines: [...new Set(await context.get(refs))].sort() };
}

try {
  const { workers } = await job.state();
  const context = await JobContext.open({ hosts: workers!, procs: 1 });
  const onHosts = await runIn(context);
  await context.close();
  const mesh = workers!.spawnProcs();
  const inMesh = await JobContext.open({ procs: mesh });
  const onMesh = await runIn(inMesh);
  await inMesh.close();
  await mesh.stop();
  console.log(JSON.stringify({ onHosts, onMesh }));
} catch (error) {
  console.log(JSON.stringify({ error: (error as Error).stack }));
} finally {
  await job.kill();
}
