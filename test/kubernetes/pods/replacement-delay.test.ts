/** Tests of which failed pods the Job controller replaces at once. */
import { beforeEach, expect, test } from "vitest";
import { KubernetesError } from "../../../runtime/job/kubernetes/api/kubernetes-error.js";
import type { PodObject } from "../../../runtime/job/kubernetes/pods/pod-object.js";
import { afterMessage, noPods } from "../../../runtime/job/kubernetes/pods/pod-state.js";
import { ReplacementDelay } from "../../../runtime/job/kubernetes/pods/replacement-delay.js";
import type { Report } from "../../../runtime/job/provider.js";
import { endedPod, podObject } from "./pod-objects.js";

const tracking = "batch.kubernetes.io/job-tracking";
const patches: object[] = [];
let time = 0;
beforeEach(() => {
  patches.length = 0;
  told.length = 0;
  time = 0;
});

const told: string[] = [];
function delay(isReplaced = true, refusal?: Error): ReplacementDelay {
  const api = {
    patch: async (kind: string, name: string, change: object) => {
      patches.push({ kind, name, ...change });
      if (refusal !== undefined) throw refusal;
      return { metadata: {} };
    },
  };
  const report = ({ kind, mesh, rank, reason }: Parameters<Report>[0]) => {
    told.push(`${kind} ${mesh}[${rank}] ${reason}`);
  };
  return new ReplacementDelay({ api, isReplaced: async () => isReplaced, now: () => time, report });
}

const tracked = (pod: PodObject, finalizers = ["example.com/other", tracking]): PodObject => ({
  ...pod,
  metadata: { ...pod.metadata, finalizers, resourceVersion: "7" },
});
const state = (...items: PodObject[]) =>
  afterMessage(noPods, { kind: "listed", items }, () => ({ mesh: "trainers", rank: 0 }));
const up = (uid: string) => tracked(podObject({ uid, name: uid }));
const crashed = (uid: string) => tracked(endedPod({ exitCode: 137 }, { uid, name: uid }));

/** Shows the states one after the other, and waits for the requests. */
async function show(delays: ReplacementDelay, ...states: ReturnType<typeof state>[]): Promise<void> {
  for (const each of states) {
    delays.see(each);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("a host that was up loses the finalizer of its Job, and no other one", async () => {
  await show(delay(), state(up("a")), state(crashed("a")));
  const metadata = { uid: "a", resourceVersion: "7", finalizers: ["example.com/other"] };
  expect(patches).toEqual([{ kind: "Pod", name: "a", metadata }]);
});

test("a pod that was never Ready keeps its delay, and so does one that has ended by itself", async () => {
  const done = tracked(podObject({ uid: "b", name: "b", phase: "Succeeded", conditions: [] }));
  await show(delay(), state(crashed("a")), state(up("b")), state(done));
  expect(patches).toEqual([]);
});

test("a second loss of a rank within a minute keeps its delay, and a later one does not", async () => {
  const delays = delay();
  await show(delays, state(up("a")), state(crashed("a")), state(up("b")), state(crashed("b")));
  expect(patches).toHaveLength(1);
  time = 60_000;
  await show(delays, state(up("c")), state(crashed("c")));
  expect(patches).toHaveLength(2);
});

test("the failures of Jobs that replace no pod count", async () => {
  await show(delay(false), state(up("a")), state(crashed("a")));
  expect(patches).toEqual([]);
});

test("a pod that somebody else has changed meanwhile is tried again in its next state", async () => {
  const delays = delay();
  await show(delays, state(up("a")), state(crashed("a")), state(crashed("a")));
  expect(patches).toHaveLength(2);
  await show(delays, state(tracked(crashed("a"), [])));
  expect(patches).toHaveLength(2);
});

test("a driver that may not patch pods tells once that replacements are late, and one that comes too late says nothing", async () => {
  const denied = delay(true, new KubernetesError("it may not patch pods", { status: 403 }));
  await show(denied, state(up("a")), state(crashed("a")), state(crashed("a")));
  expect(told).toEqual([
    "pending trainers[0] the pod after a of trainers[0] is made after a delay of 10 s or more: it may not patch pods",
  ]);
  await show(delay(true, new KubernetesError("it has changed", { status: 409 })), state(up("a")), state(crashed("a")));
  expect(told).toHaveLength(1);
});
