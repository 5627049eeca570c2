/** The Indexed Job of a mesh: one pod per rank, and another pod of the same rank when one is lost. */
import type { KubernetesSpec } from "../kubernetes-spec.js";
import { imageContainer, meshLabel, meshObjectName, queueLabel, stepFailed } from "./layout.js";
import type { KubernetesObject, Labels, PodTemplate } from "./objects.js";

/**
 * Number of times that the pod of a rank can fail on its own before the rank counts as failed. Evicted and preempted pods do not count. The job
 * itself decides how long it waits for a host.
 */
const failuresPerRank = 100;

interface MeshJob {
  readonly mesh: string;
  readonly hosts: number;
  readonly labels: Labels;
  readonly template: PodTemplate;
  readonly queue: string | undefined;
  readonly isReplaced: boolean;
  /** Whether a pod that is evicted or preempted has failed, and is not made again. */
  readonly isEvictedForGood: boolean;
}

export function indexedJob({ name, namespace }: KubernetesSpec, mesh: MeshJob): KubernetesObject {
  const { hosts, template, queue, isReplaced, isEvictedForGood } = mesh;
  const hasSteps = template.spec?.initContainers?.some((container) => container.name === imageContainer) === true;
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name: meshObjectName(name, mesh.mesh),
      namespace,
      labels: { ...mesh.labels, [meshLabel]: mesh.mesh, ...(queue === undefined ? {} : { [queueLabel]: queue }) },
    },
    spec: {
      completionMode: "Indexed",
      completions: hosts,
      parallelism: hosts,
      backoffLimitPerIndex: isReplaced ? failuresPerRank : 0,
      // Two pods of one rank would be two hosts of one identity.
      podReplacementPolicy: "Failed",
      podFailurePolicy: {
        rules: [
          ...(hasSteps
            ? [
                {
                  action: "FailJob",
                  onExitCodes: { containerName: imageContainer, operator: "In", values: [stepFailed] },
                },
              ]
            : []),
          {
            action: isEvictedForGood ? "FailJob" : "Ignore",
            onPodConditions: [{ type: "DisruptionTarget", status: "True" }],
          },
        ],
      },
      // Kueue starts the pods of a queue together when there is room for all of them.
      ...(queue === undefined ? {} : { suspend: true }),
      template,
    },
  };
}
