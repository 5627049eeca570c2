/** Tests of the wait for pods: what ends it, and what does not. */
import { expect, test } from "vitest";
import { checkKubernetesJob } from "../../../runtime/job/kubernetes/kubernetes-spec.js";
import type { PodObject } from "../../../runtime/job/kubernetes/pods/pod-object.js";
import { afterMessage, noPods } from "../../../runtime/job/kubernetes/pods/pod-state.js";
import { HostWait } from "../../../runtime/job/kubernetes/pods/ready-hosts.js";
import { endedPod, podObject, waitingPod } from "./pod-objects.js";

const { spec } = checkKubernetesJob({ namespace: "team", meshes: { trainers: { hosts: 1, image: "node:22" } } });
const state = (...items: PodObject[]) =>
  afterMessage(noPods, { kind: "listed", items }, () => ({ mesh: "trainers", rank: 0 }));

function wait(isAgain: boolean, heldBy?: (job: string) => string | undefined) {
  const told: string[] = [];
  return {
    told,
    hosts: new HostWait(spec, isAgain, ({ kind, reason }) => told.push(`${kind}: ${reason}`), { heldBy }),
  };
}

const crashed = endedPod({ exitCode: 137, reason: "Error" }, { uid: "old", name: "old" });
const text = 'pod old on node node-1 container "host" ends with exit code 137';

test("a pod that fails ends the first start", () => {
  expect(() => wait(false).hosts.look(state(crashed))).toThrow(
    'cannot start job "viceroy": pod old of trainers[0] on node node-1 container "host" ends with exit code 137',
  );
});

test("a driver that finds a job waits for the pod that replaces one which has failed, and tells why", () => {
  const { told, hosts } = wait(true);
  expect(hosts.look(state(crashed))).toBe(undefined);
  expect(hosts.reason).toBe(text);
  const next = podObject({ uid: "new", name: "new", madeAt: "2026-11-27T10:01:00Z" });
  expect(hosts.look(state(crashed, next))?.map(({ name }) => name)).toEqual(["new"]);
  expect(told).toEqual([`starting: ${text}`, "running: pod new is Ready at 10.244.1.7"]);
});

test("an image that its registry denies is waited for as well, because the limit has its words", () => {
  const { told, hosts } = wait(true);
  expect(hosts.look(state(waitingPod("ErrImagePull", "pull access denied for private/image")))).toBe(undefined);
  expect(told[0]).toContain("pull access denied for private/image");
});

test("a host without a pod waits for what its Job waits for, and tells when that changes", () => {
  const holds: (string | undefined)[] = [];
  const { told, hosts } = wait(false, (job) => (job === "viceroy-trainers" ? holds.at(-1) : "of another mesh"));
  hosts.lookAgain();
  expect(told).toEqual([]);
  hosts.look(state());
  for (const hold of ["Job x waits", "Job x waits", "Job x waits: no room"]) {
    holds.push(hold);
    hosts.lookAgain();
    expect(hosts.reason).toBe(hold);
  }
  hosts.look(state(podObject()));
  hosts.lookAgain();
  expect(hosts.reason).toBe("");
  expect(told).toEqual([
    "pending: there is no pod for trainers[0] yet",
    "pending: Job x waits",
    "pending: Job x waits: no room",
    "running: pod job-trainers-0-x1 is Ready at 10.244.1.7",
  ]);
});
