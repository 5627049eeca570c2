/** A plain program in a pod, without actors of its own: it gets hosts, and exits with the number of them that answer. */
import { thisJob } from "viceroy/job";

const { meshes, options } = JSON.parse(process.env.PROVISION);
const provisioned = await thisJob().provision(meshes, options);
process.exitCode = Object.keys(meshes).reduce((sum, mesh) => sum + provisioned[mesh].size, 0);
await provisioned.release();
