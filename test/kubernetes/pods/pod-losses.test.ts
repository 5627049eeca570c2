/** Tests of what is told of hosts that end: in the order in which it happens, and with the reason of their Job. */
import type { JobEvent } from "viceroy/job";
import { expect, test } from "vitest";
import { PodLosses } from "../../../runtime/job/kubernetes/pods/pod-losses.js";
import type { PodObject } from "../../../runtime/job/kubernetes/pods/pod-object.js";
import { afterMessage, noPods, type PodState } from "../../../runtime/job/kubernetes/pods/pod-state.js";
import { podObject } from "./pod-objects.js";

function stateOf(...pods: Parameters<typeof podObject>[0][]): PodState {
  const items = pods.map((pod) => podObject(pod));
  return afterMessage(noPods, { kind: "listed", items }, () => ({ mesh: "trainers", rank: 0 }));
}

const successor = { uid: "uid-2", name: "job-trainers-0-x2", madeAt: "2026-11-27T10:06:00Z" };

function watched(whyDeleted?: (mesh: string) => Promise<string | undefined>) {
  const events: Omit<JobEvent, "at">[] = [];
  const losses = new PodLosses((event) => events.push(event), { whyDeleted });
  losses.see(stateOf({}));
  return { losses, told: () => events.map(({ kind, reason }) => `${kind}: ${reason}`) };
}

const settled = () => new Promise(setImmediate);

test("a pod that is deleted is told with the reason of its Job, which is asked for once, and before what happens later", async () => {
  const asked: string[] = [];
  let answer = (_: string) => {};
  const { losses, told } = watched((mesh) => {
    asked.push(mesh);
    return new Promise((resolve) => {
      answer = resolve;
    });
  });
  losses.see(stateOf({ isEnding: true }));
  losses.see(stateOf());
  losses.see(stateOf(successor));
  await settled();
  expect([asked, told()]).toEqual([["trainers"], []]);
  answer('queue "team-a" has suspended Job job-trainers');
  await settled();
  const why = 'because queue "team-a" has suspended Job job-trainers';
  expect(told()).toEqual([
    `warned: pod job-trainers-0-x1 of trainers[0] is being deleted, ${why}`,
    `host-lost: pod job-trainers-0-x1 of trainers[0] is gone, ${why}`,
    "host-replaced: pod job-trainers-0-x2 is Ready at 10.244.1.7",
  ]);
});

test("a pod that was deleted before its warning was seen is told with the reason, too", async () => {
  const { losses, told } = watched(async () => "Job job-trainers was suspended");
  losses.see(stateOf());
  await settled();
  expect(told()).toEqual([
    "host-lost: pod job-trainers-0-x1 of trainers[0] is gone, because Job job-trainers was suspended",
  ]);
});

test("an API server that does not answer leaves the reason out", async () => {
  const { losses, told } = watched(() => Promise.reject(new Error("away")));
  losses.see(stateOf({ isEnding: true }));
  await settled();
  expect(told()).toEqual(["warned: pod job-trainers-0-x1 of trainers[0] is being deleted"]);
});

test("a pod that has a reason of its own is told with it, and nobody is asked", async () => {
  const { losses, told } = watched(() => Promise.reject(new Error("asked")));
  const conditions = [{ type: "DisruptionTarget", status: "True", reason: "PreemptionByScheduler", message: "words" }];
  losses.see(stateOf({ isEnding: true, conditions }));
  await settled();
  expect(told()).toEqual([
    "warned: pod job-trainers-0-x1 of trainers[0] is preempted, because a pod with a higher priority needs its node: words",
  ]);
});

const state = (...items: PodObject[]) =>
  afterMessage(noPods, { kind: "listed", items }, () => ({ mesh: "trainers", rank: 0 }));

/** Returns what is told while the pods are as in these states, one after the other. */
async function toldOf(...states: ReturnType<typeof state>[]): Promise<string[]> {
  const told: string[] = [];
  const losses = new PodLosses(({ kind, reason }) => told.push(`${kind}: ${reason}`));
  for (const each of states) losses.see(each);
  await settled();
  return told;
}

const up = podObject({ uid: "a", name: "a" });
const next = podObject({ uid: "b", name: "b", madeAt: "2026-11-27T10:06:00Z" });

test("a pod that the cluster ends, and that is gone in the next message, has the reason that was told before", async () => {
  const conditions = [
    { type: "Ready", status: "True" },
    { type: "DisruptionTarget", status: "True", reason: "PreemptionByScheduler", message: "make room" },
  ];
  const preempted = podObject({ uid: "a", name: "a", isEnding: true, conditions });
  const why = "is preempted, because a pod with a higher priority needs its node: make room";
  expect(await toldOf(state(up), state(preempted), state(), state(next))).toEqual([
    `warned: pod a of trainers[0] ${why}`,
    `host-lost: pod a of trainers[0] ${why}`,
    "host-replaced: pod b is Ready at 10.244.1.7",
  ]);
});

test("a pod that was deleted, and is gone, is not said to be deleted still", async () => {
  expect(await toldOf(state(up), state(podObject({ uid: "a", name: "a", isEnding: true })), state())).toEqual([
    "warned: pod a of trainers[0] is being deleted",
    "host-lost: pod a of trainers[0] is gone",
  ]);
});

test("a container that was started again in its pod is a lost host, and says how it has ended", async () => {
  const running = { state: { running: { startedAt: "2026-11-27T10:09:00Z" } } };
  const again = podObject({ uid: "a", name: "a", containers: [running] });
  const ended = { lastState: { terminated: { exitCode: 3, reason: "Error", message: "no such file" } } };
  const crashed = podObject({ uid: "a", name: "a", containers: [{ ...running, ...ended }] });
  expect((await toldOf(state(up), state(again)))[0]).toBe("host-lost: pod a of trainers[0] was started again");
  expect((await toldOf(state(up), state(crashed)))[0]).toBe(
    'host-lost: pod a of trainers[0] was started again, because container "host" ends with exit code 3: no such file',
  );
});
