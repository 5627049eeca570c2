/**
 * What Kueue does with the Jobs of a queue, in the hands of a test: it says why a Job waits, admits it, and suspends it again to give its place to
 * another one. Jobs are suspended by whoever makes them.
 */
import { randomBytes } from "node:crypto";
import { BatchV1Api, CoreV1Api, PatchStrategy, setHeaderOptions } from "@kubernetes/client-node";
import type { KubernetesLab } from "./lab.js";

const merging = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);

/** Tells by an event of the workload of a Job why it waits. */
export async function tellWhy({ config }: KubernetesLab, namespace: string, job: string, message: string) {
  const hash = randomBytes(3).toString("hex").slice(0, 5);
  const now = new Date();
  await config.makeApiClient(CoreV1Api).createNamespacedEvent({
    namespace,
    body: {
      metadata: { name: `job-${job}-${hash}.${Date.now().toString(16)}` },
      involvedObject: {
        apiVersion: "kueue.x-k8s.io/v1beta2",
        kind: "Workload",
        name: `job-${job}-${hash}`,
        namespace,
      },
      reason: "Pending",
      message,
      type: "Warning",
      count: 1,
      firstTimestamp: now,
      lastTimestamp: now,
      source: { component: "kueue-admission" },
    },
  });
}

/** Lets the pods of a Job be made. */
export async function admit(lab: KubernetesLab, namespace: string, job: string): Promise<void> {
  await suspend(lab, namespace, job, false);
}

/** Ends the pods of a Job, which waits in its queue again. */
export async function preempt(lab: KubernetesLab, namespace: string, job: string): Promise<void> {
  await suspend(lab, namespace, job, true);
}

async function suspend({ config }: KubernetesLab, namespace: string, name: string, value: boolean): Promise<void> {
  await config
    .makeApiClient(BatchV1Api)
    .patchNamespacedJob({ name, namespace, body: { spec: { suspend: value } } }, merging);
}
