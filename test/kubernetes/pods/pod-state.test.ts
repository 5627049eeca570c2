/** Tests of which pod is the host of a rank, whatever the order in which the API server tells of the pods. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { PodObject } from "../../../runtime/job/kubernetes/pods/pod-object.js";
import {
  afterMessage,
  currentPods,
  doublePods,
  noPods,
  type PlaceOf,
  type PodMessage,
  type PodState,
} from "../../../runtime/job/kubernetes/pods/pod-state.js";
import { podObject } from "./pod-objects.js";

const placeOf: PlaceOf = ({ metadata: { annotations = {}, labels = {} } }) => ({
  mesh: labels["viceroy/mesh"]!,
  rank: Number(annotations["batch.kubernetes.io/job-completion-index"]),
});

const changed = (object: PodObject): PodMessage => ({ kind: "changed", object });
const after = (...messages: readonly PodMessage[]): PodState =>
  messages.reduce((state, message) => afterMessage(state, message, placeOf), noPods);

const first = podObject({ uid: "a", name: "t-0-a" });
const second = podObject({ uid: "b", name: "t-0-b", madeAt: "2026-11-27T10:06:00Z", podIP: "10.244.2.9" });

test("a pod counts when it is Ready, and no more when it is being deleted, although it still says that it is Ready", () => {
  expect(currentPods(after(changed(first))).get("trainers[0]")).toMatchObject({ uid: "a", isReady: true });
  const ending = podObject({ uid: "a", isEnding: true });
  expect(currentPods(after(changed(first), changed(ending))).get("trainers[0]")).toMatchObject({
    isReady: false,
    isEnding: true,
  });
});

test("a pod with another id at the same rank is the host as soon as the first one ends", () => {
  const state = after(changed(first), changed(podObject({ uid: "a", isEnding: true })), changed(second));
  expect(currentPods(state).get("trainers[0]")).toMatchObject({ uid: "b", ip: "10.244.2.9" });
});

test("two living pods of one rank are found", () => {
  const [pair] = doublePods(after(changed(second), changed(first)));
  expect(pair!.map(({ name }) => name)).toEqual(["t-0-a", "t-0-b"]);
  expect(doublePods(after(changed(podObject({ uid: "a", isEnding: true })), changed(second)))).toEqual([]);
});

test("pods that a list does not have any more are gone", () => {
  const state = after(changed(first), { kind: "listed", items: [second] });
  expect([...state.keys()]).toEqual(["b"]);
});

/** The life of one pod as the messages about it, which arrive in this order. */
const life = fc
  .record({
    uid: fc.uuid(),
    rank: fc.nat(2),
    minute: fc.nat(59),
    end: fc.constantFrom("lives", "ends", "gone", "failed"),
  })
  .map(({ uid, rank, minute, end }): PodMessage[] => {
    const own = { uid, name: `t-${rank}-${uid}`, rank, madeAt: `2026-11-27T10:${String(minute).padStart(2, "0")}:00Z` };
    const pending = podObject({ ...own, phase: "Pending", conditions: [], containers: [] });
    const messages = [changed(pending), changed(podObject(own))];
    if (end === "failed") return [...messages, changed(podObject({ ...own, phase: "Failed", conditions: [] }))];
    if (end === "lives") return messages;
    const ending = podObject({ ...own, isEnding: true });
    return [...messages, changed(ending), ...(end === "gone" ? [{ kind: "removed" as const, object: ending }] : [])];
  });

test("the order of messages about different pods does not change what is known, nor does a list in between", () => {
  const lives = fc.uniqueArray(life, {
    maxLength: 8,
    selector: ([first]) => (first as { object: PodObject }).object.metadata.uid,
  });
  fc.assert(
    fc.property(lives, fc.infiniteStream(fc.nat()), fc.nat(40), (pods, choices, cut) => {
      const inOrder = after(...pods.flat());
      const left = pods.map((messages) => [...messages]);
      const mixed: PodMessage[] = [];
      for (const choice of choices) {
        const waiting = left.filter(({ length }) => length > 0);
        if (waiting.length === 0) break;
        mixed.push(waiting[choice % waiting.length]!.shift()!);
      }
      // A list has each pod as it is at that time, and replaces everything.
      const known = new Map<string, PodObject>();
      for (const message of mixed.slice(0, cut)) {
        const { object } = message as { object: PodObject };
        if (message.kind === "removed") known.delete(object.metadata.uid!);
        else known.set(object.metadata.uid!, object);
      }
      const listed: PodMessage = { kind: "listed", items: [...known.values()] };
      const withList = after(...mixed.slice(0, cut), listed, ...mixed.slice(cut));
      for (const state of [after(...mixed), withList]) {
        expect(new Map(state)).toEqual(new Map(inOrder));
        expect(new Map(currentPods(state))).toEqual(new Map(currentPods(inOrder)));
      }
      for (const [place, pod] of currentPods(inOrder)) {
        const ready = [...inOrder.values()].filter((each) => each.isReady && `trainers[${each.place.rank}]` === place);
        if (ready.length > 0) expect(pod.isReady).toBe(true);
      }
    }),
  );
});
