/** The job of a test, for the command line. */
import { ProcessJob } from "viceroy/job";

export default new ProcessJob(JSON.parse(process.env["JOB_OPTIONS"]!));
