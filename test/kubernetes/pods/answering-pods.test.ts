/** Tests of pods that count as Ready because their hosts have answered, before the kubelet has said so. */
import { expect, test } from "vitest";
import { AnsweringPods } from "../../../runtime/job/kubernetes/pods/answering-pods.js";
import type { PodObject } from "../../../runtime/job/kubernetes/pods/pod-object.js";
import {
  afterMessage,
  noPods,
  type PlaceOf,
  type PodFacts,
  type PodState,
} from "../../../runtime/job/kubernetes/pods/pod-state.js";
import { podObject } from "./pod-objects.js";

const placeOf: PlaceOf = () => ({ mesh: "trainers", rank: 0 });
const stateOf = (pod: PodObject): PodState => afterMessage(noPods, { kind: "changed", object: pod }, placeOf);
const notReady = [{ type: "Ready", status: "False", reason: "ContainersNotReady" }];

/** Returns a pod with one container. */
function pod(options: Parameters<typeof podObject>[0], spec: PodObject["spec"] = {}): PodObject {
  const made = podObject(options);
  return { ...made, spec: { ...made.spec, containers: [{ name: "host" }], ...spec } };
}

const only = (state: PodState): PodFacts => [...state.values()][0]!;

/** Returns whether the pod counts as Ready after its host has answered. */
function counts(object: PodObject): boolean {
  const answering = new AnsweringPods();
  const told = answering.add(only(stateOf(object)));
  const { isReady } = only(answering.seen(stateOf(object)));
  expect(told).toBe(isReady && !only(stateOf(object)).isReady);
  return isReady;
}

test("a pod that runs counts as soon as its host has answered", () => {
  const starting = pod({ conditions: notReady });
  expect(only(new AnsweringPods().seen(stateOf(starting))).isReady).toBe(false);
  expect(counts(starting)).toBe(true);
  expect(counts(pod({}))).toBe(true);
});

test("a pod that waits for more than its daemon does not count before the kubelet says so", () => {
  const options = { conditions: notReady };
  expect(counts(pod(options, { containers: [{ name: "host" }, { name: "proxy" }] }))).toBe(false);
  expect(counts(pod(options, { initContainers: [{ restartPolicy: "Always" }] }))).toBe(false);
  expect(counts(pod(options, { initContainers: [{}] }))).toBe(true);
  expect(counts(pod(options, { readinessGates: [{ conditionType: "example.com/gate" }] }))).toBe(false);
});

test("a pod that is being deleted, has ended, or has no address does not count", () => {
  expect(counts(pod({ conditions: notReady, isEnding: true }))).toBe(false);
  expect(counts(pod({ conditions: notReady, phase: "Failed" }))).toBe(false);
  expect(counts(pod({ conditions: notReady, phase: "Pending" }))).toBe(false);
});

test("after the kubelet has said once that it is Ready, the kubelet's word counts", () => {
  const answering = new AnsweringPods();
  const starting = stateOf(pod({ conditions: notReady }));
  expect(answering.add(only(starting))).toBe(true);
  expect(only(answering.seen(stateOf(pod({})))).isReady).toBe(true);
  expect(only(answering.seen(starting)).isReady).toBe(false);
  // Its certificate is renewed.
  expect(answering.add(only(starting))).toBe(false);
  expect(only(answering.seen(starting)).isReady).toBe(false);
});

test("a container that was started again, and another pod, do not count by the answer of the first", () => {
  const answering = new AnsweringPods();
  answering.add(only(stateOf(pod({ conditions: notReady }))));
  const again = { state: { running: { startedAt: "2026-11-27T10:09:00Z" } }, restartCount: 1 };
  expect(only(answering.seen(stateOf(pod({ conditions: notReady, containers: [again] })))).isReady).toBe(false);
  answering.add(only(stateOf(pod({ conditions: notReady }))));
  expect(only(answering.seen(stateOf(pod({ conditions: notReady, uid: "uid-2" })))).isReady).toBe(false);
});
