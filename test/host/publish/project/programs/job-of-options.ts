/** The module of `viceroy` in tests of the command line: a job whose options are in the environment. */
import { ProcessJob } from "viceroy/job";

export default new ProcessJob(JSON.parse(process.env["OPTIONS"] ?? "{}"));
