/** Tests of a watch that goes on whatever the API server does. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, test } from "vitest";
import type { ApiObject, KubernetesApi, WatchEvent } from "../../../runtime/job/kubernetes/api/kubernetes-api.js";
import { KubernetesError } from "../../../runtime/job/kubernetes/api/kubernetes-error.js";
import { type Observation, observe } from "../../../runtime/job/kubernetes/pods/observe.js";
import type { RetryWorld } from "../../../runtime/job/retry.js";
import { answerJson, scriptedServer } from "../api/scripted-server.js";

/** One answer of the API server: objects of a list, or events of a watch and how it ends. */
type Step =
  | { readonly list: readonly ApiObject[]; readonly version: string }
  | { readonly from: string; readonly events: readonly WatchEvent[]; readonly error?: KubernetesError }
  | { readonly error: KubernetesError };

const pod = (name: string, resourceVersion: string): ApiObject => ({ metadata: { name, resourceVersion } });
const away = new KubernetesError("the API server is away", { status: 0 });
const expired = new KubernetesError("too old", { status: 410 });

/** Observes a server that takes these steps, and is aborted after the last one. */
async function run(steps: readonly Step[]) {
  const ending = new AbortController();
  const left = [...steps];
  const asked: string[] = [];
  const pauses: number[] = [];
  let time = 0;
  const next = (what: string): Step => {
    asked.push(what);
    const step = left.shift();
    if (left.length === 0) ending.abort();
    return step ?? { error: away };
  };
  const api = {
    list: async () => {
      const step = next("list");
      if (!("list" in step)) throw (step as { error: Error }).error;
      return { items: step.list, resourceVersion: step.version };
    },
    async *watch(_kind: string, _selection: object, version: string) {
      const step = next(`watch from ${version}`);
      if ("events" in step) yield* step.events;
      if ("error" in step && step.error !== undefined) throw step.error;
    },
  } as unknown as KubernetesApi;
  const world: RetryWorld = {
    now: () => time,
    random: () => 1,
    pause: async (ms) => {
      pauses.push(ms);
      time += ms;
    },
  };
  const seen: string[] = [];
  for await (const observation of observe(api, "Pod", {}, ending.signal, world)) seen.push(describe(observation));
  return { seen, asked, pauses };
}

function describe(observation: Observation): string {
  if (observation.kind === "away") return "away";
  if (observation.kind === "listed")
    return `listed ${observation.items.map(({ metadata }) => metadata.name).join(",")}`;
  return `${observation.kind} ${observation.object.metadata.name}`;
}

test("a watch that the server ends goes on from the last version, also from that of a bookmark", async () => {
  const { seen, asked } = await run([
    { list: [pod("a", "1")], version: "5" },
    {
      from: "5",
      events: [
        { type: "MODIFIED", object: pod("a", "6") },
        { type: "BOOKMARK", object: pod("", "9") },
      ],
    },
    { from: "9", events: [{ type: "DELETED", object: pod("a", "10") }] },
    { from: "10", events: [] },
  ]);
  expect(seen).toEqual(["listed a", "changed a", "removed a"]);
  expect(asked).toEqual(["list", "watch from 5", "watch from 9", "watch from 10"]);
});

test("a version that is too old leads to another list", async () => {
  const { seen, asked } = await run([
    { list: [pod("a", "1")], version: "5" },
    { from: "5", events: [], error: expired },
    { list: [pod("b", "90")], version: "99" },
    { from: "99", events: [] },
  ]);
  expect(seen).toEqual(["listed a", "listed b"]);
  expect(asked).toEqual(["list", "watch from 5", "list", "watch from 99"]);
});

test("an API server that is away is asked again after growing pauses, and the watch goes on where it was", async () => {
  const { seen, asked, pauses } = await run([
    { list: [], version: "5" },
    ...Array.from({ length: 8 }, () => ({ error: away })),
    { from: "5", events: [{ type: "ADDED", object: pod("a", "6") }] },
  ]);
  expect(seen).toEqual(["listed ", ...Array(8).fill("away"), "changed a"]);
  expect(asked).toEqual(["list", ...Array(9).fill("watch from 5")]);
  expect(pauses).toEqual([1000, 1000, 1000, 2000, 4000, 8000, 10_000, 10_000]);
});

test("a server that ends each watch at once is asked once a second", async () => {
  const { pauses } = await run([
    { list: [], version: "5" },
    ...Array.from({ length: 10 }, (): Step => ({ from: "5", events: [] })),
  ]);
  expect(pauses.length).toBeGreaterThanOrEqual(9);
  expect(Math.min(...pauses)).toBe(1000);
});

test("a missing permission is thrown", async () => {
  const refused = new KubernetesError("may not watch pods", { status: 403 });
  await expect(run([{ list: [], version: "5" }, { error: refused }, { error: away }])).rejects.toBe(refused);
});

test("credentials that were accepted and have expired are tried again, and those that never were are an error", async () => {
  const denied = new KubernetesError("it does not accept the credentials", { status: 401 });
  const { seen, asked } = await run([
    { list: [], version: "5" },
    { error: denied },
    { error: denied },
    { from: "5", events: [{ type: "ADDED", object: pod("a", "6") }] },
  ]);
  expect(seen).toEqual(["listed ", "away", "away", "changed a"]);
  expect(asked).toEqual(["list", ...Array(3).fill("watch from 5")]);
  await expect(run([{ error: denied }, { error: away }])).rejects.toBe(denied);
});

test("an API server that was ended and started again is watched on over new connections", async () => {
  const answer = (version: string) => (request: IncomingMessage, response: ServerResponse) => {
    if (!request.url!.includes("watch=true")) {
      answerJson(response, { items: [], metadata: { resourceVersion: version } });
      return;
    }
    response.write(`${JSON.stringify({ type: "ADDED", object: pod(`seen-by-${version}`, version) })}\n`);
  };
  const first = await scriptedServer(answer("1"));
  const ending = new AbortController();
  const seen: string[] = [];
  let second: Awaited<ReturnType<typeof scriptedServer>> | undefined;
  for await (const observation of observe(await first.open(), "Pod", {}, ending.signal)) {
    seen.push(describe(observation));
    if (seen.at(-1) === "changed seen-by-1") await first.close();
    if (seen.at(-1) === "away") second ??= await scriptedServer(answer("2"), Number(new URL(first.url).port));
    if (seen.at(-1) === "changed seen-by-2") ending.abort();
  }
  await second!.close();
  expect(seen.filter((what) => what !== "away")).toEqual(["listed ", "changed seen-by-1", "changed seen-by-2"]);
});
