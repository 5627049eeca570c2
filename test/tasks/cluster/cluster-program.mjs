// Uses a cluster context over jobs of Slurm: `node cluster-program.mjs <options> <call> <arguments…>`, with everything after the
// name of the call as JSON. It prints the result as a line of JSON.
import { SlurmJob } from "../../../dist/job.js";
import { ClusterContext } from "../../../dist/tasks.js";

const [, , options, call, ...args] = process.argv;
const { folder, ...jobs } = JSON.parse(options);
const cluster = new ClusterContext(SlurmJob, { progress: "silent", ...jobs }, { folder });
const given = args.map((text) => JSON.parse(text));
if (call === "jobLogs") for await (const line of cluster.jobLogs(...given)) console.log(JSON.stringify(line));
else console.log(JSON.stringify((await cluster[call](...given)) ?? null));
await cluster.close();
