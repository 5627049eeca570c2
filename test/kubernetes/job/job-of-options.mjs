/** The module of `viceroy job` in the tests: a job whose options are in the environment. */
import { KubernetesJob } from "viceroy/job";

export default new KubernetesJob(JSON.parse(process.env.OPTIONS));
