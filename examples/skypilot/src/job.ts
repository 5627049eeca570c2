import { ProcessJob, SkyPilotJob } from "viceroy/job";

const meshes = { samplers: { hosts: 2, cpus: 2, spot: true } };

/** Two spot machines of any cloud. With `--local`, two processes on this machine, to try the program without SkyPilot. */
export const job = process.argv.includes("--local")
  ? new ProcessJob({ meshes: { samplers: { hosts: 2 } }, cache: null, progress: "silent" })
  : new SkyPilotJob({ name: "samples", meshes, retryUntilUp: true, hostTimeout: { start: "10m", lost: "15m" } });
