/** The names of objects, labels, containers, volumes and files that the pods of a job have. */

/** The labels of all objects and pods of a job. */
export const jobLabel = "viceroy/job";
export const meshLabel = "viceroy/mesh";
export const runLabel = "viceroy/run";

/** The label of pods that may drive a job. Its value is the name of the job. */
export const driverLabel = "viceroy/driver";

/** The label of the owner of a run whose command runs in a pod of its own. Its value is "true". */
export const commandLabel = "viceroy/command";

/**
 * The name of the pod of a command in place of that of a mesh: its Job, its secret and its identity are made as those of a mesh with one
 * host, which the pod is until it has the program.
 */
export const commandMesh = "command";

/** The label by which Kueue finds the queue of a Job. */
export const queueLabel = "kueue.x-k8s.io/queue-name";

/** The annotation in which the Job controller writes the rank of a pod. */
export const rankAnnotation = "batch.kubernetes.io/job-completion-index";

/** The annotation of a Job with the number of its hosts that stay if all growths that are under way fail. */
export const keptAnnotation = "viceroy/hosts";

/** The annotation of a Job with the sizes that drivers are waiting for, as JSON, by the random ids of their growths. */
export const growthsAnnotation = "viceroy/growths";

/** The finalizer by which the Job controller keeps a pod until it has counted its end. */
export const trackingFinalizer = "batch.kubernetes.io/job-tracking";

/** The container of the daemon. */
export const hostContainer = "host";

/** The init container that applies the steps of an image. */
export const imageContainer = "image";

/** The port at which hosts listen. */
export const hostPort = 26_600;

/** The port at which hosts expect a caller who signs their certificate. */
export const enrolmentPort = hostPort + 1;

/** The port at which hosts of a job with an ingress listen for WebSockets of drivers. */
export const gatewayPort = hostPort + 2;

/**
 * The folder of the daemon's programs: `host.cjs`, `image.cjs`, and the parts of the archive, `daemon.0` and so on. The mounts of a
 * container are never inside each other.
 */
export const programFolder = "/viceroy/program";

/** The program of the pod of a command, in the same folder. */
export const holderProgram = "holder.cjs";

/** The folder with `image.json` and the parts of the archive of copied files, `files.0` and so on. */
export const filesFolder = "/viceroy/files";

/** The file with the one-time secret of the pod. */
export const secretFile = "/viceroy/secret";

/** The folder in which pods of a node keep the results of steps. */
export const cacheFolder = "/viceroy/cache";

/** The working directory of images that name no other. It contains the store for the code of programs, too. */
export const defaultFolder = "/viceroy/app";

/** The folder with what a program needs to ask the controller for hosts: the token of the pod, and the authority of the controller. */
export const controllerFolder = "/viceroy/controller";
export const controllerToken = "token";
export const controllerAuthority = "authority.pem";

/** The variable with the URL of the controller. */
export const controllerVariable = "VICEROY_CONTROLLER";

/** The folder for caches in the working directory, where the modules of a program find the packages of the image. */
export const storeName = ".viceroy-store";

/**
 * The exit code with which the program of an image says that a step has failed. Another try would fail as well, so the Job
 * fails.
 */
export const stepFailed = 65;

/** Maximum number of bytes of a part: `kubectl apply` keeps a copy in base64 in an annotation, which may have 256 KiB. */
export const partBytes = 180_000;

/** Returns the name of the Job of a mesh. */
export function meshObjectName(job: string, mesh: string): string {
  return `${job}-${mesh}`;
}

/** Returns the name of the Secret with the one-time secrets of a job. */
export function secretName(job: string): string {
  return `${job}-secrets`;
}

/** Returns the name of the Secret by which programs on other machines use a job. */
export function sharedSecretName(job: string): string {
  return `${job}-driver`;
}

/** Returns the name of the Secret by which programs on other machines look at a job. */
export function viewerSecretName(job: string): string {
  return `${job}-viewer`;
}

/** Returns the name of the Service to which the ingress of a job leads. */
export function gatewayServiceName(job: string): string {
  return `${job}-gateway`;
}

/** Returns the key of the one-time secret of a host. @param rank its rank, or a reference to a variable that contains it */
export function secretKey(mesh: string, rank: number | string): string {
  return `${mesh}-${rank}`;
}

/** Returns the name of the ConfigMap with a part of the daemon's archive. */
export function programName(job: string, part: number): string {
  return `${job}-program-${part}`;
}

/** Returns the name of the ConfigMap with a part of the files of a mesh's image. */
export function filesName(job: string, mesh: string, part: number): string {
  return `${job}-${mesh}-image-${part}`;
}

/** Time in s that a pod gets to end when its job or its host is given up. */
export const endGraceSeconds = 5;
