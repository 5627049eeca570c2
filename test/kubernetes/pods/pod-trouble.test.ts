/** Tests of what users are told about pods that do not come up, or end. */
import { expect, test } from "vitest";
import { troubleOf } from "../../../runtime/job/kubernetes/pods/pod-trouble.js";
import { endedPod, podObject, waitingPod } from "./pod-objects.js";

test("a pod that is Ready has no trouble", () => {
  expect(troubleOf(podObject())).toBe(undefined);
});

test("an image that the registry does not have is final, and one from a registry that is away is not", () => {
  const missing = 'failed to resolve reference "registry.example/none:1": registry.example/none:1: not found';
  expect(troubleOf(waitingPod("ErrImagePull", missing))).toEqual({
    kind: "image",
    text: `cannot get its image (ErrImagePull): ${missing}`,
    isFinal: true,
    advice:
      "check the name of the image, and name the secret of a private registry as imagePullSecrets in the template of Compute",
  });
  const backOff = `Back-off pulling image "registry.example/none:1": ErrImagePull: ${missing}`;
  expect(troubleOf(waitingPod("ImagePullBackOff", backOff))).toMatchObject({ kind: "image", isFinal: true });
  const away = "dial tcp 10.0.0.9:443: connect: connection refused";
  expect(troubleOf(waitingPod("ErrImagePull", away))).toMatchObject({ kind: "image", isFinal: false });
  expect(troubleOf(waitingPod("InvalidImageName", 'couldn\'t parse image name "A:B:C"'))).toMatchObject({
    isFinal: true,
  });
});

test("a pod without a node has the words of the scheduler, and waits", () => {
  const message =
    "0/2 nodes are available: 2 Insufficient nvidia.com/gpu. preemption: 0/2 nodes are available: 2 No preemption victims found.";
  const pod = podObject({
    phase: "Pending",
    conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }],
    containers: [],
  });
  expect(troubleOf(pod)).toEqual({ kind: "unschedulable", text: `has no node yet: ${message}`, isFinal: false });
});

test("a container that has used too much memory is told apart from one that fails", () => {
  expect(troubleOf(endedPod({ exitCode: 137, reason: "OOMKilled" }))).toEqual({
    kind: "out-of-memory",
    text: 'container "host" has used more memory than its limit and was killed (OOMKilled)',
    isFinal: true,
    advice: "raise memory of the mesh, or let its actors use less",
  });
  const message = "viceroy host: cannot listen at tls://0.0.0.0:26600: EADDRINUSE\n";
  expect(troubleOf(endedPod({ exitCode: 70, reason: "Error", message }))).toEqual({
    kind: "crash",
    text: 'container "host" ends with exit code 70: viceroy host: cannot listen at tls://0.0.0.0:26600: EADDRINUSE',
    isFinal: true,
  });
});

test("a container that is started again and again tells how it has ended last", () => {
  const pod = podObject({
    conditions: [],
    containers: [
      {
        state: { waiting: { reason: "CrashLoopBackOff", message: "back-off 10s restarting failed container" } },
        lastState: { terminated: { exitCode: 1, reason: "Error", message: "no such file: /app/main.js" } },
      },
    ],
  });
  expect(troubleOf(pod)?.text).toBe(
    'container "host" ends with exit code 1 again and again (CrashLoopBackOff): no such file: /app/main.js',
  );
});

test("a missing Secret or ConfigMap is told, and can still come", () => {
  expect(troubleOf(waitingPod("CreateContainerConfigError", 'secret "db" not found'))).toEqual({
    kind: "config",
    text: 'cannot start container "host" (CreateContainerConfigError): secret "db" not found',
    isFinal: false,
  });
});

test.each([
  ["PreemptionByScheduler", "is preempted, because a pod with a higher priority needs its node"],
  ["EvictionByEvictionAPI", "is evicted, as when its node is drained"],
  ["DeletionByTaintManager", "is deleted, because its node has a taint that it does not tolerate"],
  ["TerminationByKubelet", "is ended by its node"],
  ["SomethingNew", "is ended by the cluster (SomethingNew)"],
])("a pod that the cluster ends by %s is no failure of its program", (reason, text) => {
  const conditions = [{ type: "DisruptionTarget", status: "True", reason, message: "the words of the cluster" }];
  const trouble = { kind: "disrupted", text: `${text}: the words of the cluster`, isFinal: false };
  expect(troubleOf(podObject({ isEnding: true, conditions }))).toEqual(trouble);
  // The container has ended by then, and has been killed.
  expect(troubleOf(endedPod({ exitCode: 143 }, { conditions }))).toEqual(trouble);
});

test("a pod that its node has evicted for lack of memory has the words of the node", () => {
  const message = "The node was low on resource: memory.";
  const pod = podObject({ phase: "Failed", reason: "Evicted", message, conditions: [], containers: [] });
  const trouble = { kind: "disrupted", text: `was evicted by its node: ${message}`, isFinal: false };
  expect(troubleOf(pod)).toEqual(trouble);
  const conditions = [{ type: "DisruptionTarget", status: "True", reason: "TerminationByKubelet", message }];
  expect(troubleOf(podObject({ phase: "Failed", reason: "Evicted", message, conditions, containers: [] }))).toEqual(
    trouble,
  );
});

test("an init container that fails is the trouble of its pod", () => {
  const pod = podObject({
    phase: "Failed",
    conditions: [],
    containers: [],
    initContainerStatuses: [
      {
        name: "image",
        state: { terminated: { exitCode: 65, reason: "Error", message: "step 2 (npm ci) has failed" } },
      },
    ],
  });
  expect(troubleOf(pod)?.text).toBe('container "image" ends with exit code 65: step 2 (npm ci) has failed');
});

test("an init container that has done its work is no trouble", () => {
  const done = { name: "image", state: { terminated: { exitCode: 0, reason: "Completed" } } };
  expect(troubleOf({ ...podObject({ initContainerStatuses: [done] }) })).toBe(undefined);
});
