/** Finds out what is wrong with a pod, in the words of Kubernetes where it has any, and whether it can get better by itself. */
import type { ContainerStatus, EndedContainer, PodCondition, PodObject } from "./pod-object.js";

/** The kinds of trouble. */
export type TroubleKind =
  | "config"
  | "crash"
  | "deleted"
  | "disrupted"
  | "image"
  | "out-of-memory"
  | "unschedulable"
  | "waiting";

/** A problem of a pod. */
export interface PodTrouble {
  readonly kind: TroubleKind;
  /** What has happened, without the name of the pod. */
  readonly text: string;
  /** Whether a job that starts gives up. Otherwise Kubernetes goes on, and it may pass. */
  readonly isFinal: boolean;
  /** What the user can do; absent if the text says all that is known. */
  readonly advice?: string;
}

const raiseMemory = "raise memory of the mesh, or let its actors use less";
const checkImage =
  "check the name of the image, and name the secret of a private registry as imagePullSecrets in the template of Compute";

/** Returns what is wrong with a pod; undefined if nothing is. */
export function troubleOf(pod: PodObject): PodTrouble | undefined {
  const { status = {} } = pod;
  const conditions = status.conditions ?? [];
  return (
    disruptionOf(pod) ??
    endOf(pod) ??
    allContainers(pod)
      .map(waitOf)
      .find((trouble) => trouble !== undefined) ??
    scheduleOf(conditions)
  );
}

const disruptions: Readonly<Record<string, string>> = {
  PreemptionByScheduler: "is preempted, because a pod with a higher priority needs its node",
  EvictionByEvictionAPI: "is evicted, as when its node is drained",
  DeletionByTaintManager: "is deleted, because its node has a taint that it does not tolerate",
  DeletionByPodGC: "is deleted, because its node is gone",
  TerminationByKubelet: "is ended by its node",
};

/** A pod that the cluster ends, and not the program in it. Its Job makes another one. */
function disruptionOf({ status = {}, metadata }: PodObject): PodTrouble | undefined {
  const { conditions = [], reason, message = "" } = status;
  const target = conditions.find(({ type, status: is }) => type === "DisruptionTarget" && is === "True");
  // A node that evicts a pod says so in the reason, and in the condition only that it ends the pod.
  if (target !== undefined && reason !== "Evicted") {
    const what = disruptions[target.reason ?? ""] ?? `is ended by the cluster (${target.reason ?? "no reason given"})`;
    return { kind: "disrupted", text: `${what}${words(target.message ?? message)}`, isFinal: false };
  }
  const ended = {
    Evicted: "was evicted by its node",
    Preempting: "was preempted",
    NodeLost: "was on a node that is lost",
  }[reason ?? ""];
  if (ended !== undefined) return { kind: "disrupted", text: `${ended}${words(message)}`, isFinal: false };
  if (reason === "NodeShutdown" || reason === "Terminated") {
    return { kind: "disrupted", text: `was ended because its node shuts down${words(message)}`, isFinal: false };
  }
  return metadata.deletionTimestamp === undefined
    ? undefined
    : { kind: "deleted", text: "is being deleted", isFinal: false };
}

/** A pod whose containers have ended, or end again and again. */
function endOf(pod: PodObject): PodTrouble | undefined {
  for (const { name, state = {}, lastState = {} } of allContainers(pod)) {
    const isAgain = state.waiting?.reason === "CrashLoopBackOff";
    const ended = state.terminated ?? (isAgain ? lastState.terminated : undefined);
    if (ended === undefined || (ended.exitCode === 0 && !isAgain && pod.status?.phase !== "Succeeded")) continue;
    return describeEnd(name, ended, isAgain);
  }
  const { phase, reason, message = "" } = pod.status ?? {};
  if (phase !== "Failed" && phase !== "Succeeded") return undefined;
  return {
    kind: "crash",
    text: `has ended${reason === undefined ? "" : ` (${reason})`}${words(message)}`,
    isFinal: true,
  };
}

/** Returns how a container of a pod has ended that was started again; undefined if none was. */
export function lastEndOf(pod: PodObject): string | undefined {
  for (const { name, lastState } of allContainers(pod)) {
    if (lastState?.terminated !== undefined) return describeEnd(name, lastState.terminated, false).text;
  }
  return undefined;
}

function describeEnd(
  container: string,
  { exitCode, reason, message = "" }: EndedContainer,
  isAgain: boolean,
): PodTrouble {
  if (reason === "OOMKilled") {
    const text = `container "${container}" has used more memory than its limit and was killed (OOMKilled)`;
    return { kind: "out-of-memory", text, isFinal: true, advice: raiseMemory };
  }
  const again = isAgain ? " again and again (CrashLoopBackOff)" : "";
  const known = reason === undefined || reason === "Error" || reason === "Completed" ? "" : ` (${reason})`;
  const text = `container "${container}" ends with exit code ${exitCode}${again}${known}${words(message)}`;
  return { kind: "crash", text, isFinal: true };
}

/** Refusals of a registry that do not pass. Others, such as a network that is down, may. */
const finalPull =
  /not found|does not exist|denied|unauthori[sz]ed|forbidden|invalid reference|manifest unknown|no matching manifest/i;

const configReasons = new Set(["CreateContainerConfigError", "CreateContainerError", "RunContainerError"]);

/** A container that waits for something. */
function waitOf({ name, state = {} }: ContainerStatus): PodTrouble | undefined {
  const { reason = "", message = "" } = state.waiting ?? {};
  if (reason === "InvalidImageName" || reason === "ErrImageNeverPull") {
    const text = `cannot get its image (${reason})${words(message)}`;
    return { kind: "image", text, isFinal: true, advice: checkImage };
  }
  if (reason === "ErrImagePull" || reason === "ImagePullBackOff") {
    const text = `cannot get its image (${reason})${words(message)}`;
    return { kind: "image", text, isFinal: finalPull.test(message), advice: checkImage };
  }
  if (!configReasons.has(reason)) return undefined;
  return { kind: "config", text: `cannot start container "${name}" (${reason})${words(message)}`, isFinal: false };
}

function scheduleOf(conditions: readonly PodCondition[]): PodTrouble | undefined {
  const scheduled = conditions.find(({ type, status }) => type === "PodScheduled" && status === "False");
  if (scheduled?.reason === "Unschedulable") {
    return { kind: "unschedulable", text: `has no node yet${words(scheduled.message ?? "")}`, isFinal: false };
  }
  if (scheduled?.reason !== "SchedulingGated") return undefined;
  return { kind: "waiting", text: "waits until its queue lets it be scheduled (SchedulingGated)", isFinal: false };
}

function allContainers({ status = {} }: PodObject): readonly ContainerStatus[] {
  return [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
}

/** Maximum number of characters of the words of Kubernetes, which can contain the last lines of a log. */
const maxWords = 1000;

function words(message: string): string {
  const text = message.trim();
  return text === "" ? "" : `: ${text.length > maxWords ? `…${text.slice(-maxWords)}` : text}`;
}
