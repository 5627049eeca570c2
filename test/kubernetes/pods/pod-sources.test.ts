/** Tests of the ranks of pods that a selector finds, for what the controllers of different versions of Kubernetes write. */
import { expect, test } from "vitest";
import { checkKubernetesJob, type SelectedMesh } from "../../../runtime/job/kubernetes/kubernetes-spec.js";
import type { PodObject } from "../../../runtime/job/kubernetes/pods/pod-object.js";
import { noRank, podSources } from "../../../runtime/job/kubernetes/pods/pod-sources.js";

function rankOf(metadata: PodObject["metadata"], rank?: SelectedMesh["rank"]): number | undefined {
  const mesh = { hosts: 2, selector: "app=x", ...(rank === undefined ? {} : { rank }) };
  const [source] = podSources(checkKubernetesJob({ namespace: "team", meshes: { workers: mesh } }).spec, "run");
  return source!.placeOf({ metadata })?.rank;
}

const index = "batch.kubernetes.io/job-completion-index";
const setOwner = [{ kind: "StatefulSet", name: "set", uid: "uid-1" }];

test("the completion index of a Job is a label, and before Kubernetes 1.28 an annotation alone", () => {
  expect(rankOf({ name: "job-3-x", labels: { [index]: "3" } }, "job")).toBe(3);
  expect(rankOf({ name: "job-3-x", annotations: { [index]: "3" } }, "job")).toBe(3);
  expect(rankOf({ name: "job-3-x", annotations: { [index]: "3" } })).toBe(3);
});

test("the number in a StatefulSet is a label, and before Kubernetes 1.28 the end of the name alone", () => {
  expect(rankOf({ name: "set-3", labels: { "apps.kubernetes.io/pod-index": "4" } }, "statefulset")).toBe(4);
  expect(rankOf({ name: "a-set-12", ownerReferences: setOwner }, "statefulset")).toBe(12);
  expect(rankOf({ name: "a-set-12", ownerReferences: setOwner })).toBe(12);
});

test("a name that ends with a number is no rank without a StatefulSet", () => {
  expect(rankOf({ name: "set-3" }, "statefulset")).toBe(noRank);
  expect(rankOf({ name: "set-3", ownerReferences: [{ ...setOwner[0]!, kind: "ReplicaSet" }] })).toBe(noRank);
});

test("a rule takes no rank that another rule would find", () => {
  expect(rankOf({ name: "set-3", ownerReferences: setOwner }, "job")).toBe(noRank);
  expect(rankOf({ name: "job-3-x", labels: { [index]: "3" } }, "statefulset")).toBe(noRank);
  expect(rankOf({ name: "set-3", ownerReferences: setOwner, labels: { rank: "x" } }, { label: "rank" })).toBe(noRank);
});
