/** The status of a pod, from the states of its containers. */
import type { V1Pod, V1PodCondition, V1PodStatus } from "@kubernetes/client-node";
import type { ContainerRun } from "./container-run.js";

export interface PodParts {
  readonly init: readonly ContainerRun[];
  readonly main: readonly ContainerRun[];
  readonly address: string;
  readonly startTime: Date;
  /** Whether all containers have ended for good. */
  readonly ended: boolean;
  /** Why the kubelet has ended the pod, if it has. */
  readonly eviction: { readonly reason: string; readonly message: string } | undefined;
}

export function statusOf(pod: V1Pod, parts: PodParts): V1PodStatus {
  const { init, main, address, startTime, ended, eviction } = parts;
  const initialized = init.every((run) => run.exitCode === 0 || (run.spec.restartPolicy === "Always" && run.isStarted));
  const ready =
    !ended &&
    initialized &&
    [...main, ...init.filter(({ spec }) => spec.restartPolicy === "Always")].every((run) => run.isReady);
  const now = new Date();
  const condition = (type: string, is: boolean): V1PodCondition => {
    const status = is ? "True" : "False";
    const known = pod.status?.conditions?.find((candidate) => candidate.type === type && candidate.status === status);
    return { type, status, lastTransitionTime: known?.lastTransitionTime ?? now };
  };
  const conditions = [
    condition("PodReadyToStartContainers", !ended),
    condition("Initialized", initialized),
    condition("ContainersReady", ready),
    condition("Ready", ready),
    ...(eviction === undefined
      ? []
      : [{ ...condition("DisruptionTarget", true), reason: "TerminationByKubelet", message: eviction.message }]),
  ];
  return {
    phase: phaseOf(parts),
    ...(eviction ?? {}),
    conditions,
    hostIP: "127.0.0.1",
    podIP: address,
    podIPs: [{ ip: address }],
    startTime,
    ...(init.length === 0 ? {} : { initContainerStatuses: init.map(({ status }) => status) }),
    containerStatuses: main.map(({ status }) => status),
  };
}

function phaseOf({ init, main, ended, eviction }: PodParts): string {
  if (eviction !== undefined) return "Failed";
  if (ended) return main.every(({ exitCode }) => exitCode === 0) ? "Succeeded" : "Failed";
  const begun = [...main].some(({ status }) => status.state?.running !== undefined || status.restartCount > 0);
  return begun && init.every((run) => run.exitCode === 0 || run.isStarted) ? "Running" : "Pending";
}
