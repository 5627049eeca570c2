/** Tests of Jobs that are suspended: what they wait for, and in whose words. */
import { expect, test } from "vitest";
import type { ApiObject, KubernetesApi, WatchEvent } from "../../../runtime/job/kubernetes/api/kubernetes-api.js";
import { KubernetesError } from "../../../runtime/job/kubernetes/api/kubernetes-error.js";
import { HeldJobs, reportHolds, waitOf, whyDeleted } from "../../../runtime/job/kubernetes/pods/held-jobs.js";

const jobObject = (suspend: boolean, queue?: string): ApiObject => ({
  metadata: {
    name: "train-loaders",
    creationTimestamp: "2026-11-27T10:00:00Z",
    ...(queue === undefined ? {} : { labels: { "kueue.x-k8s.io/queue-name": queue } }),
  },
  spec: { suspend },
});

function pendingEvent(
  workload: string,
  message: string,
  madeAt = "2026-11-27T10:00:01Z",
  reason = "Pending",
): ApiObject {
  return {
    metadata: { creationTimestamp: madeAt },
    reason,
    message,
    involvedObject: { kind: "Workload", name: workload },
  };
}

/** Follows the Jobs of an API server that lists these objects once. @returns the texts that were told, in order */
async function follow(jobs: readonly ApiObject[] | "forbidden", events: readonly ApiObject[], name = "train-loaders") {
  const ending = new AbortController();
  const told: (string | undefined)[] = [];
  const held = new HeldJobs([name], () => told.push(held.reasonOf(name)));
  const forbidden = new KubernetesError("may not", { status: 403 });
  const api = {
    list: async (kind: string) => {
      if (kind === "Job" && jobs === "forbidden") throw forbidden;
      return { items: kind === "Job" ? jobs : events, resourceVersion: "1" };
    },
    async *watch(): AsyncGenerator<WatchEvent> {
      ending.abort();
      yield* [];
    },
  } as unknown as KubernetesApi;
  await held.follow(api, "viceroy/run=1", true, ending.signal);
  return { last: held.reasonOf(name), told };
}

test("a Job in a queue waits with the name of the queue, and one without a queue is suspended", () => {
  expect(waitOf(jobObject(true, "team-a"))).toBe('Job train-loaders waits in queue "team-a"');
  expect(waitOf(jobObject(true))).toBe("Job train-loaders is suspended, and no queue that it names resumes it");
  expect(waitOf(jobObject(false, "team-a"))).toBe(undefined);
  expect(whyDeleted(jobObject(true, "team-a"))).toBe('queue "team-a" has suspended Job train-loaders');
  expect(whyDeleted(jobObject(true))).toBe("Job train-loaders was suspended");
  expect(whyDeleted(jobObject(false))).toBe(undefined);
});

test("the words of Kueue are those about the workload of the Job", async () => {
  const events = [
    pendingEvent("job-train-loaders-0a1b2", "not enough"),
    pendingEvent("job-train-loaders-2-0a1b2", "another Job"),
    pendingEvent("job-other-0a1b2", "another job"),
    pendingEvent("job-train-loaders-0a1b2", "admitted", undefined, "QuotaReserved"),
  ];
  const { last } = await follow([jobObject(true, "team-a")], events);
  expect(last).toBe('Job train-loaders waits in queue "team-a": not enough');
});

test("words about an earlier Job of the name are not told, and long names are found that Kueue has cut", async () => {
  const old = pendingEvent("job-train-loaders-99999", "yesterday", "2026-11-26T10:00:00Z");
  expect((await follow([jobObject(true, "team-a")], [old])).last).toBe('Job train-loaders waits in queue "team-a"');
  const name = `train-${"l".repeat(56)}`;
  const long = { ...jobObject(true, "team-a"), metadata: { ...jobObject(true, "team-a").metadata, name } };
  const { last } = await follow([long], [pendingEvent(`${`job-${name}`.slice(0, 57)}-0a1b2`, "not enough")], name);
  expect(last).toBe(`Job ${name} waits in queue "team-a": not enough`);
});

test("a program that may not watch Jobs knows nothing of them, and goes on", async () => {
  expect(await follow("forbidden", [])).toEqual({ last: undefined, told: [] });
});

test("a running job tells once of each suspension", () => {
  const told: string[] = [];
  const see = reportHolds(({ kind, reason }) => told.push(`${kind}: ${reason}`));
  for (const suspend of [false, true, true, false, true]) see(jobObject(suspend, "team-a"));
  const pending = 'pending: Job train-loaders waits in queue "team-a"';
  expect(told).toEqual([pending, pending]);
});
