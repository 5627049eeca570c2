/** A job on the cluster of the tests, for the command line. VICEROY_SKYPILOT_JOB has its options as JSON. */
import { SkyPilotJob } from "viceroy/job";

export default new SkyPilotJob(JSON.parse(process.env.VICEROY_SKYPILOT_JOB));
