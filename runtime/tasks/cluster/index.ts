/** Jobs of a cluster: programs that run beside hosts of their own. */
export { ClusterContext, type ClusterOptions, type JobClass } from "./cluster-context.js";
export { type JobInfo, JobNotFoundError, type JobStatus } from "./job-info.js";
export type { TpuRunConfig, TpuVm } from "./slice-plan.js";
export { type SliceType, sliceTypes } from "./slice-types.js";
