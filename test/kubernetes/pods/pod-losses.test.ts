/** Tests of what is told of hosts that will end, have ended, and are back. */
import { expect, test } from "vitest";
import { PodLosses } from "../../../runtime/job/kubernetes/pods/pod-losses.js";
import type { PodObject } from "../../../runtime/job/kubernetes/pods/pod-object.js";
import { afterMessage, noPods } from "../../../runtime/job/kubernetes/pods/pod-state.js";
import { podObject } from "./pod-objects.js";

const state = (...items: PodObject[]) =>
  afterMessage(noPods, { kind: "listed", items }, () => ({ mesh: "trainers", rank: 0 }));

/** Returns what is told while the pods are as in these states, one after the other. */
function toldOf(...states: ReturnType<typeof state>[]): string[] {
  const told: string[] = [];
  const losses = new PodLosses(({ kind, reason }) => told.push(`${kind}: ${reason}`));
  for (const each of states) losses.see(each);
  return told;
}

const up = podObject({ uid: "a", name: "a" });
const next = podObject({ uid: "b", name: "b", madeAt: "2026-11-27T10:06:00Z" });

test("a pod that the cluster ends, and that is gone in the next message, has the reason that was told before", () => {
  const conditions = [
    { type: "Ready", status: "True" },
    { type: "DisruptionTarget", status: "True", reason: "PreemptionByScheduler", message: "make room" },
  ];
  const preempted = podObject({ uid: "a", name: "a", isEnding: true, conditions });
  const why = "is preempted, because a pod with a higher priority needs its node: make room";
  expect(toldOf(state(up), state(preempted), state(), state(next))).toEqual([
    `warned: pod a of trainers[0] ${why}`,
    `host-lost: pod a of trainers[0] ${why}`,
    "host-replaced: pod b is Ready at 10.244.1.7",
  ]);
});

test("a pod that was deleted, and is gone, is not said to be deleted still", () => {
  expect(toldOf(state(up), state(podObject({ uid: "a", name: "a", isEnding: true })), state())).toEqual([
    "warned: pod a of trainers[0] is being deleted",
    "host-lost: pod a of trainers[0] is gone",
  ]);
});

test("a container that was started again in its pod is a lost host, and says how it has ended", () => {
  const running = { state: { running: { startedAt: "2026-11-27T10:09:00Z" } } };
  const again = podObject({ uid: "a", name: "a", containers: [running] });
  const ended = { lastState: { terminated: { exitCode: 3, reason: "Error", message: "no such file" } } };
  const crashed = podObject({ uid: "a", name: "a", containers: [{ ...running, ...ended }] });
  expect(toldOf(state(up), state(again))[0]).toBe("host-lost: pod a of trainers[0] was started again");
  expect(toldOf(state(up), state(crashed))[0]).toBe(
    'host-lost: pod a of trainers[0] was started again, because container "host" ends with exit code 3: no such file',
  );
});
