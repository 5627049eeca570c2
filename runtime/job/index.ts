/**
 * Jobs: a program asks for hosts, wherever it runs things, and gets host meshes by name.
 *
 * @module
 */
export { attach } from "./attach.js";
export type { BatchRun } from "./batch/batch-run.js";
export type { AttachJobOptions, DetachOptions, JobLogOptions, RunOptions, WaitOptions } from "./call-options.js";
export type { Duration, DurationUnit } from "./duration.js";
export {
  JobCacheError,
  JobDetachError,
  JobElsewhereError,
  JobError,
  JobLostError,
  JobProvisionError,
  JobReadOnlyError,
  JobResizeError,
  JobStartError,
  JobStartTimeoutError,
  JobStopError,
  JobSubmitError,
  NoSuchMeshError,
  PartialAllocationError,
} from "./errors.js";
export type { JobEvent, JobEventKind } from "./events.js";
export { Job } from "./job.js";
export type { JobAttachOptions, JobOptions, JobSyncOptions } from "./job-options.js";
export type { JobState } from "./job-state.js";
export type { Json } from "./json.js";
export { Compute } from "./kubernetes/compute/compute.js";
export type { ComputeOptions, ComputeVolume, ImageCache } from "./kubernetes/compute/compute-options.js";
export { Image } from "./kubernetes/image/image.js";
export type { JobIngress } from "./kubernetes/ingress-options.js";
export { KubernetesJob } from "./kubernetes/kubernetes-job.js";
export type {
  DriverAccess,
  KubernetesJobOptions,
  KubernetesMesh,
  ProvisionedMesh,
  SelectedMesh,
} from "./kubernetes/kubernetes-spec.js";
export type {
  Container,
  EnvVariable,
  Labels,
  ObjectMetadata,
  OwnerReference,
  PodSpec,
  PodTemplate,
  Toleration,
  Volume,
  VolumeMount,
} from "./kubernetes/manifest/objects.js";
export type {
  Provisioned,
  ProvisionHandle,
  ProvisionMesh,
  ProvisionOptions,
} from "./kubernetes/provision/provision-options.js";
export { LocalJob, type LocalJobOptions } from "./local/local-job.js";
export type { MeshSpec } from "./mesh-spec.js";
export { ProcessJob, type ProcessJobOptions } from "./process/process-job.js";
export type { JobLogLine } from "./provider.js";
export type { JobRecord } from "./record/job-record.js";
export { SkyPilotJob, type SkyPilotJobOptions } from "./skypilot/skypilot-job.js";
export type { SkyPilotMesh, SkyPilotMount } from "./skypilot/skypilot-spec.js";
export { SlurmJob, type SlurmJobOptions } from "./slurm/slurm-job.js";
export type { SpmdFailure, SpmdOptions, SpmdRun } from "./spmd/spmd-options.js";
export { SSHJob, type SSHJobOptions } from "./ssh/ssh-job.js";
export type { SshMeshSpec } from "./ssh/ssh-spec.js";
export { thisJob } from "./this-job.js";
