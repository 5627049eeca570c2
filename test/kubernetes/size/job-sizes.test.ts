/** Tests of what waiters for hosts learn of a mesh that gets smaller. */
import { expect, test } from "vitest";
import { PodLosses } from "../../../runtime/job/kubernetes/pods/pod-losses.js";
import { afterMessage, noPods, type PodState } from "../../../runtime/job/kubernetes/pods/pod-state.js";
import { untilEnded } from "../../../runtime/job/kubernetes/size/ended-pods.js";
import { JobSizes } from "../../../runtime/job/kubernetes/size/job-sizes.js";
import { podObject } from "../pods/pod-objects.js";

const job = (generation: number, completions: number) => ({
  metadata: { generation, labels: { "viceroy/mesh": "workers" } },
  spec: { completions },
});
const place = (rank: number) => ({ mesh: "workers", rank });
const gone = 'job.resize has given back the hosts of mesh "workers" from rank 2 on';

test("a wait ends when the mesh has got smaller, and not by an older version of its Job", async () => {
  const sizes = new JobSizes();
  const ending = new AbortController();
  expect(sizes.whyGone(place(3))).toBe(undefined);
  sizes.see(job(2, 4));
  sizes.see(job(1, 2));
  expect(sizes.whyGone(place(3))).toBe(undefined);
  const waits = [place(1), place(3)].map((each) =>
    sizes.untilGone([each], ending.signal).catch((error) => error.message),
  );
  sizes.see(job(3, 2));
  expect(await waits[1]).toBe(`host workers[3] is gone: ${gone}`);
  ending.abort(new Error("nobody waits any more"));
  expect(await waits[0]).toBe("nobody waits any more");
});

test("hosts that are given back are warned about and lost with that reason, and the next ones at their ranks replace nothing", async () => {
  const sizes = new JobSizes();
  const told: string[] = [];
  const losses = new PodLosses(({ kind, reason }) => told.push(`${kind}: ${reason}`), {
    whyGone: (at) => sizes.whyGone(at),
  });
  const see = (...items: ReturnType<typeof podObject>[]) =>
    losses.see(afterMessage(noPods, { kind: "listed", items }, () => place(2)));
  const pod = podObject({ uid: "a", name: "a" });
  sizes.see(job(1, 3));
  see(pod);
  sizes.see(job(2, 2));
  const ending = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: "2026-11-27T10:00:00Z" } };
  see(ending);
  see();
  sizes.see(job(3, 3));
  see(podObject({ uid: "b", name: "b" }));
  // Events are told one after the other, when it is known why.
  await new Promise(setImmediate);
  expect(told).toEqual([
    `warned: pod a of workers[2] is being deleted: ${gone}`,
    `host-lost: pod a of workers[2] is gone: ${gone}`,
  ]);
});

test("a rank gets another pod when the end of the earlier one is counted", async () => {
  const finalizers = ["batch.kubernetes.io/job-tracking"];
  const pod = podObject({ uid: "a", name: "a", phase: "Failed", conditions: [] });
  const counted = afterMessage(noPods, { kind: "listed", items: [pod] }, () => place(2));
  const tracked = { ...pod, metadata: { ...pod.metadata, finalizers } };
  const uncounted = afterMessage(noPods, { kind: "listed", items: [tracked] }, () => place(2));
  const signal = AbortSignal.abort(new Error("late"));
  const feedOf = (state: PodState) => ({
    until: async (pick: (state: PodState) => unknown) => {
      if (pick(state) === undefined) throw signal.reason;
    },
  });
  const wait = (state: PodState, rank: number) =>
    untilEnded(feedOf(state) as never, [place(rank)], signal).then(String, (error: Error) => error.message);
  expect(await wait(counted, 2)).toBe("undefined");
  expect(await wait(uncounted, 1)).toBe("undefined");
  expect(await wait(uncounted, 2)).toBe("pod a, which workers[2] had before, has not ended yet");
});
