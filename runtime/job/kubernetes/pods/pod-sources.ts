/** Which pods belong to a job, and how the rank of each is known. */
import { isProvisioned, type KubernetesSpec, type SelectedMeshSpec } from "../kubernetes-spec.js";
import { jobLabel, meshLabel, rankAnnotation, runLabel } from "../manifest/layout.js";
import type { PodSource } from "./pod-feed.js";
import type { PodObject } from "./pod-object.js";

/** The rank of a pod that a selector finds, and whose rank is not known. */
export const noRank = -1;

/** Returns the labels by which the objects and pods of one run are found. */
export function runSelector(job: string, applyId: string): string {
  return `${jobLabel}=${job},${runLabel}=${applyId}`;
}

/** Returns the sources of the pods of a job. */
export function podSources({ name, meshes }: KubernetesSpec, applyId: string): PodSource[] {
  const selected = Object.entries(meshes).flatMap(([mesh, spec]): PodSource[] =>
    isProvisioned(spec)
      ? []
      : [
          {
            selection: { labelSelector: spec.selector },
            placeOf: (pod) => ({ mesh, rank: selectedRank(pod, spec.rank) }),
          },
        ],
  );
  if (!Object.values(meshes).some(isProvisioned)) return selected;
  const own: PodSource = {
    selection: { labelSelector: runSelector(name, applyId) },
    placeOf: ({ metadata: { labels = {}, annotations = {} } }) => {
      const mesh = labels[meshLabel];
      const rank = wholeNumber(annotations[rankAnnotation]);
      return mesh === undefined || rank === noRank ? undefined : { mesh, rank };
    },
  };
  return [own, ...selected];
}

function selectedRank(pod: PodObject, rule: SelectedMeshSpec["rank"]): number {
  const { labels = {}, annotations = {}, ownerReferences = [], name = "" } = pod.metadata;
  if (rule !== null && typeof rule === "object") return wholeNumber(labels[rule.label]);
  const byJob = wholeNumber(labels[rankAnnotation] ?? annotations[rankAnnotation]);
  // Kubernetes before 1.28 has no such label.
  const isOfSet = ownerReferences.some(({ kind }) => kind === "StatefulSet");
  const bySet = wholeNumber(
    labels["apps.kubernetes.io/pod-index"] ?? (isOfSet ? /-(\d+)$/.exec(name)?.[1] : undefined),
  );
  if (rule === "job") return byJob;
  if (rule === "statefulset") return bySet;
  return byJob === noRank ? bySet : byJob;
}

function wholeNumber(text: string | undefined): number {
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : noRank;
}
