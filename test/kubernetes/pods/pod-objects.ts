/** Pods as an API server of Kubernetes 1.36 sends them, without the fields that jobs do not read. */
import type { ContainerStatus, PodObject, PodStatus } from "../../../runtime/job/kubernetes/pods/pod-object.js";

interface PodOptions extends Omit<PodStatus, "containerStatuses"> {
  readonly uid?: string;
  readonly name?: string;
  readonly rank?: number;
  readonly madeAt?: string;
  readonly isEnding?: boolean;
  readonly containers?: readonly Partial<ContainerStatus>[];
}

/** Returns a pod that is Ready, unless the options say something else. */
export function podObject(options: PodOptions = {}): PodObject {
  const { uid = "uid-1", name = "job-trainers-0-x1", rank = 0, isEnding = false, containers, ...status } = options;
  const { madeAt = "2026-11-27T10:00:00Z", ...given } = status;
  const running = { name: "host", restartCount: 0, state: { running: { startedAt: "2026-11-27T10:00:01Z" } } };
  return {
    metadata: {
      uid,
      name,
      creationTimestamp: madeAt,
      labels: { "viceroy/mesh": "trainers" },
      annotations: { "batch.kubernetes.io/job-completion-index": String(rank) },
      ...(isEnding ? { deletionTimestamp: "2026-11-27T10:05:30Z", deletionGracePeriodSeconds: 30 } : {}),
    },
    spec: { nodeName: "node-1" },
    status: {
      phase: "Running",
      podIP: "10.244.1.7",
      conditions: [
        { type: "PodScheduled", status: "True" },
        { type: "Ready", status: "True" },
      ],
      containerStatuses: containers === undefined ? [running] : containers.map((each) => ({ ...running, ...each })),
      ...given,
    },
  };
}

/** Returns a pod that waits for its container to start. */
export function waitingPod(reason: string, message: string): PodObject {
  return podObject({
    phase: "Pending",
    conditions: [{ type: "Ready", status: "False", reason: "ContainersNotReady" }],
    containers: [{ state: { waiting: { reason, message } } }],
  });
}

/** Returns a pod whose container has ended. */
export function endedPod(
  terminated: { exitCode: number; reason?: string; message?: string },
  more: PodOptions = {},
): PodObject {
  return podObject({ phase: "Failed", conditions: [], containers: [{ state: { terminated } }], ...more });
}
