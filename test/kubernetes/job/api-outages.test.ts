/** Tests of a job whose API server is away, forgets, or refuses: the job goes on, and nothing that happens to its pods is missed. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { CoreV1Api, PatchStrategy, setHeaderOptions } from "@kubernetes/client-node";
import type { HostMesh } from "viceroy";
import type { KubernetesJob } from "viceroy/job";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Crew, loadCrew } from "../../proc/crew.js";
import { collectUnhandledFaults } from "../../proc/unhandled-faults.js";
import { until } from "../../proc/until.js";
import { configText } from "../api/scripted-server.js";
import { ApiProxy, type ProxiedRequest, type ProxyAnswer } from "../lab/api-proxy.js";
import { EventsOfJob, JobsOfTests, replacementMs } from "../lab/jobs-of-tests.js";
import { onKubernetes } from "../lab/on-kubernetes.js";

// The processes of a pod that is deleted are lost.
collectUnhandledFaults();

const refusal = (status: number, reason: string, message: string, headers = {}): ProxyAnswer => ({
  status,
  headers,
  body: JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", code: status, reason, message }),
});
const isPodWatch = ({ isWatch, url }: ProxiedRequest) => isWatch && url.pathname.endsWith("/pods");

onKubernetes("an API server that fails", (lab) => {
  const jobs = new JobsOfTests(lab);
  let crew: Crew;
  let proxy: ApiProxy;
  let namespace: string;
  let job: KubernetesJob<"trainers">;
  let trainers: HostMesh<"hosts">;
  let busy = 0;

  beforeAll(async () => {
    crew = await loadCrew();
    namespace = await lab().namespace();
    proxy = await ApiProxy.start(lab());
    // A server that has too much to do when the job is submitted is asked again.
    proxy.answer = ({ method }) => {
      if (method !== "PATCH" || busy >= 2) return undefined;
      busy++;
      return refusal(429, "TooManyRequests", "the server has received too many requests", { "retry-after": "1" });
    };
    job = jobs.make({
      namespace,
      kubeconfig: proxy.kubeconfig,
      meshes: { trainers: { hosts: 1, image: lab().nodeImage } },
      hostTimeout: { lost: replacementMs },
    });
    ({ trainers } = await job.state());
  });
  beforeEach(() => {
    proxy.answer = () => undefined;
  });
  afterAll(async () => {
    await jobs.killAll();
    proxy.close();
  });

  /** Deletes the pod of the job, and waits until the job has warned, and has another host. */
  async function replacePod(): Promise<void> {
    const events = new EventsOfJob(job);
    const { metadata } = await jobs.podOf(namespace, "trainers", 0);
    const core = lab().config.makeApiClient(CoreV1Api);
    await core.deleteNamespacedPod({ namespace, name: metadata!.name!, gracePeriodSeconds: 2 });
    await events.saw("warned", new RegExp(`^pod ${metadata!.name} of trainers\\[0\\] is being deleted`));
    await until(() => events.reasons("host-replaced").length > 0, replacementMs);
    expect(await trainers.spawnProcs().spawn("again", crew.SteelWorker).echo.callOne("up")).toBe("up");
  }

  /** Returns the watches of pods that the API server has answered. */
  const watches = () => proxy.passed.filter(isPodWatch);

  /** Ends the watches, and waits until that of the pods goes on. */
  async function watchAgain(): Promise<void> {
    const before = watches().length;
    proxy.cut();
    await until(() => watches().length > before);
  }

  /** Answers requests, ends the watches, and waits until some requests were answered. */
  async function failFor(count: number, answer: (request: ProxiedRequest) => ProxyAnswer | undefined): Promise<void> {
    let failed = 0;
    proxy.answer = (request) => {
      const own = answer(request);
      if (own !== undefined) failed++;
      return own;
    };
    proxy.cut();
    await until(() => failed >= count);
  }

  test("a job is submitted although the API server asks for a pause", () => {
    expect(busy).toBe(2);
    expect(watches().length).toBeGreaterThan(0);
  });

  test("an API server that is killed, comes back, and has forgotten the versions before, is listed again", async () => {
    await lab().stopApiServer();
    const workers = trainers.spawnProcs().spawn("crew", crew.SteelWorker);
    expect(await workers.echo.callOne("alone")).toBe("alone");
    // What happens while the driver pauses between two attempts is seen afterwards.
    const again = async (restart: () => Promise<void>) => {
      const before = watches().length;
      await restart();
      await until(() => watches().length > before);
    };
    await again(() => lab().startApiServer());
    await again(() => lab().forgetHistory());
    await replacePod();
  }, 300_000);

  test("a version that is too old, a busy server, and an answer that is none, are asked again", async () => {
    const isList = ({ method, url, isWatch }: ProxiedRequest) =>
      method === "GET" && !isWatch && url.pathname.endsWith("/pods");
    const lists = () => proxy.passed.filter(isList).length;
    const before = lists();
    const answers = [
      { status: 200, body: "<html>please log in</html>\n" },
      refusal(429, "TooManyRequests", "too many requests", { "retry-after": "1" }),
      { status: 502, body: "<html>bad gateway</html>" },
      refusal(410, "Expired", "too old resource version: 1 (2)"),
    ];
    await failFor(answers.length, (request) => (isPodWatch(request) ? answers.shift() : undefined));
    await until(() => lists() > before);
    expect(job.active).toBe(true);
  });

  test("a watch goes on from the version of a bookmark", async () => {
    const core = lab().config.makeApiClient(CoreV1Api);
    const containers = [{ name: "main", image: lab().nodeImage }];
    const spec = { nodeSelector: { "viceroy.test/none": "yes" }, containers };
    await core.createNamespacedPod({ namespace, body: { metadata: { name: "other" }, spec } });
    const merging = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);
    proxy.watchSeconds = 5;
    await watchAgain();
    const begin = watches().length;
    proxy.told.length = 0;
    let changes = 0;
    await until(async () => {
      // A bookmark tells of versions that changes of pods have which the watch does not select.
      const metadata = { annotations: { change: `${changes++}` } };
      await core.patchNamespacedPod({ namespace, name: "other", body: { metadata } }, merging);
      await pause(500);
      const bookmarks = proxy.told.filter(({ type, kind }) => type === "BOOKMARK" && kind === "Pod");
      const known = new Set(bookmarks.map(({ version }) => version));
      return watches()
        .slice(begin)
        .some(({ url }) => known.has(url.searchParams.get("resourceVersion")!));
    });
    proxy.watchSeconds = undefined;
  });

  test("a token that has expired is read again from its file when somebody has logged in", async () => {
    const expired = (request: ProxiedRequest) =>
      request.token === "first" ? refusal(401, "Unauthorized", "Unauthorized") : undefined;
    // The first attempts fail, because the file has the old token.
    await failFor(4, expired);
    expect(job.active).toBe(true);
    proxy.useToken("second");
    await until(() => watches().at(-1)!.token === "second");
  });

  test("a program that a kubeconfig file names for the token is run again when the token has expired, and when it has failed", async () => {
    const file = path.join(path.dirname(proxy.kubeconfig), "token");
    const login = `const token = require("node:fs").readFileSync(${JSON.stringify(file)}, "utf8");
      if (token === "") { console.error("the session is over"); process.exit(1); }
      console.log(JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: { token } }));`;
    const config = JSON.parse(configText(proxy.url));
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: process.execPath, args: ["-e", login] };
    config.users[0].user = { exec: { ...exec, interactiveMode: "Never" } };
    const use = (token: string) => writeFileSync(file, token);
    const only = (token: string) => (request: ProxiedRequest) =>
      request.token === token ? undefined : refusal(401, "Unauthorized", "Unauthorized");
    use("third");
    writeFileSync(proxy.kubeconfig, JSON.stringify(config));
    proxy.answer = only("third");
    proxy.cut();
    await until(() => watches().at(-1)!.token === "third");
    use("");
    proxy.answer = only("fourth");
    proxy.cut();
    // The login fails for a while.
    await pause(1500);
    use("fourth");
    await until(() => watches().at(-1)!.token === "fourth");
    await replacePod();
  });
});
