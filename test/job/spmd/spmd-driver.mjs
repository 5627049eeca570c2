/** A driver that runs processes on a job until it is killed. */
import { ProcessJob } from "viceroy/job";

const [worker, file] = process.argv.slice(2);
const job = new ProcessJob({ meshes: { workers: { hosts: 2 } }, cache: null, progress: "silent" });
const run = await job.spmd({ procs: 2 }, [process.execPath, worker, "wait", file]);
await run.exited();
