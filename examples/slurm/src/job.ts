import { ProcessJob, SlurmJob } from "viceroy/job";

const meshes = { samplers: { hosts: 2, cpus: 2 } };

/** Two nodes of the cluster. With `--local`, two processes on this machine, to try the program without a cluster. */
export const job = process.argv.includes("--local")
  ? new ProcessJob({ meshes: { samplers: { hosts: 2 } }, cache: null, progress: "silent" })
  : new SlurmJob({ meshes, timeLimit: "10m", exclusive: false, cache: null });
