/** Tests of jobs that run a command in a pod of its own. `viceroy job run` starts them, with the permissions that `viceroy job rbac` prints. */

import { BatchV1Api, CoreV1Api } from "@kubernetes/client-node";
import type { KubernetesJobOptions } from "viceroy/job";
import { afterEach, beforeAll, expect, test } from "vitest";
import { clientLines, type JobPlace, startViceroyJob, viceroyJob } from "../../job/batch-driver.js";
import { newCache } from "../../job/job-program.js";
import { loadCrew } from "../../proc/crew.js";
import { limitUnderLoad, until } from "../../proc/until.js";
import { broughtCode } from "../lab/jobs-of-tests.js";
import { backend, onKubernetes } from "../lab/on-kubernetes.js";
import { permitCommand, permittedDriver } from "../lab/permissions.js";

beforeAll(async () => {
  await loadCrew();
});

onKubernetes("commands of jobs of Kubernetes", (lab) => {
  const places: JobPlace[] = [];
  afterEach(async () => {
    await Promise.all(places.splice(0).map((place) => viceroyJob(place, "kill")));
  });

  interface Place extends JobPlace {
    readonly namespace: string;
  }

  /** Makes a job in a namespace of its own. */
  async function newPlace({
    isPermitted = true,
    isSynced = false,
    ...further
  }: {
    isPermitted?: boolean;
    isSynced?: boolean;
    meshes?: KubernetesJobOptions<string>["meshes"];
  } = {}): Promise<Place> {
    const namespace = await lab().namespace({ "pod-security.kubernetes.io/enforce": "restricted" });
    const described = { namespace, meshes: { workers: { hosts: 2, image: lab().nodeImage } }, ...further };
    const kubeconfig = await permittedDriver(lab(), described);
    if (isPermitted) await permitCommand(lab(), described);
    // Pods of the stand-in see the files of the machine, so only the first test brings the code there.
    const sync = (backend === "cluster" || isSynced) && broughtCode;
    const attach = { silence: 8000, timeout: 60_000 };
    const options = { ...described, kubeconfig, sync, hostTimeout: "90s", attach };
    const place = { job: "kubernetes", cache: newCache(), options, namespace } as const;
    places.push(place);
    return place;
  }

  /** The arguments that run a program of the crew in the pod, with the same job. */
  function client({ options }: Place, node: readonly string[], ...args: readonly string[]): string[] {
    const env = ["env", "JOB=kubernetes", `JOB_OPTIONS=${JSON.stringify(options)}`];
    return ["--", ...env, ...node, "programs/batch-client.ts", ...args];
  }

  async function podsOf(namespace: string) {
    const { items } = await lab().config.makeApiClient(CoreV1Api).listNamespacedPod({ namespace });
    return items;
  }

  const isOfCommand = ({ metadata }: { metadata?: { labels?: Record<string, string> } }) =>
    metadata?.labels?.["viceroy/mesh"] === "command";

  async function commandPod(namespace: string) {
    const [pod] = (await podsOf(namespace)).filter(isOfCommand);
    return pod;
  }

  /** Waits until the command prints where it runs. */
  async function clientAt({ namespace }: Place): Promise<{ applyId?: string }> {
    const core = lab().config.makeApiClient(CoreV1Api);
    const lines = async () => {
      const name = (await commandPod(namespace))?.metadata?.name;
      if (name === undefined) return [];
      return clientLines(await core.readNamespacedPodLog({ namespace, name }).catch(() => ""));
    };
    // Pods of the cluster get the code of all tests, with its packages.
    await until(
      async () => (await lines()).length > 0,
      limitUnderLoad(backend === "cluster" ? 180_000 : 60_000, 240_000),
    );
    return (await lines())[0]!;
  }

  test(
    "the command uses the hosts of its job from a pod of its own, and its exit code and its output come back",
    async () => {
      const place = await newPlace({ isSynced: true });
      // The link of tsx in node_modules/.bin is made in the pod. The image of the cluster has no npx.
      const start = backend === "cluster" ? ["node", "--import", "tsx"] : ["npx", "tsx"];
      const { code, out, err } = await viceroyJob(place, "run", ...client(place, start, "3"));
      expect(err).toMatch(/^job "viceroy" runs env JOB=kubernetes /);
      const [where, left] = clientLines(out) as [{ applyId: string; own: string; pids: number[]; cwd: string }, object];
      expect(where.own).toBe(where.applyId);
      expect(where.pids).toHaveLength(4);
      expect(where.cwd).toContain("/trees/");
      expect(left).toEqual({ active: false });
      expect(code).toBe(3);

      // The hosts have ended with the command, whose pod is kept for its output.
      const { namespace } = place;
      await until(async () => (await podsOf(namespace)).every(isOfCommand));
      const jobs = await lab().config.makeApiClient(BatchV1Api).listNamespacedJob({ namespace });
      expect(jobs.items.map(({ metadata }) => metadata!.name)).toEqual(["viceroy-command"]);
      const state = await viceroyJob(place, "state");
      const said = 'job "viceroy" does not run; its last command has ended with exit code 3\n';
      expect(state).toEqual({ code: 1, out: said, err: "" });
      const logs = await viceroyJob(place, "logs");
      expect({ ...logs, out: clientLines(logs.out) }).toEqual({ code: 0, out: [where, left], err: "" });
      const name = (await commandPod(namespace))!.metadata!.name!;
      const shown = await lab().config.makeApiClient(CoreV1Api).readNamespacedPodLog({ namespace, name });
      expect(shown.split("\n")[0]).toBe("viceroy job: waits for its program");

      const killed = await viceroyJob(place, "kill");
      expect(`${killed.code} ${killed.err}`).toBe("0 ");
      await until(async () => (await podsOf(namespace)).length === 0);
    },
    limitUnderLoad(240_000, 480_000),
  );

  test(
    "the command gets a further host, and gives it back",
    async () => {
      const place = await newPlace();
      const started = startViceroyJob(place, "run", ...client(place, ["node", "--import", "tsx"], "resize"));
      const { code, out, err } = await started.ended;
      expect(`${code} ${err}`, out).toMatch(/^0 job "viceroy" runs env .*\n$/);
      expect(clientLines(out).slice(1)).toEqual([{ ranks: ["0", "1", "2"] }, { ranks: ["0", "1"] }, { active: false }]);
      const { namespace } = place;
      await until(async () => (await podsOf(namespace)).every(isOfCommand));
    },
    limitUnderLoad(240_000, 480_000),
  );

  test(
    "the command goes on when the program that has started it is killed, and ends in order when the job is killed",
    async () => {
      const place = await newPlace();
      const started = startViceroyJob(place, "run", ...client(place, ["node", "--import", "tsx"], "wait"));
      const { applyId } = await clientAt(place);
      started.kill();
      expect((await started.ended).code).toBe(null);

      const state = await viceroyJob(place, "state");
      expect(state.out).toContain(`job "viceroy" of provider kubernetes runs as ${applyId}\n`);
      const second = await viceroyJob(place, "run", "--", "true");
      expect(second.err).toMatch(/^cannot submit job "viceroy": the command "env" .* runs as /);
      const resized = await viceroyJob(place, "resize", "workers=3");
      expect(resized.err).toContain("its command alone changes their numbers; call job.resize in that program");

      const reading = startViceroyJob(place, "logs", "--follow");
      await until(() => clientLines(reading.printed()).length > 0, limitUnderLoad(30_000, 120_000));
      await lab().stopApiServer();
      await lab().startApiServer();
      const killed = await viceroyJob(place, "kill");
      expect(`${killed.code} ${killed.err}`).toBe("0 ");
      // It has got SIGTERM while its hosts were still there, and the reader has not lost a line.
      const { out, err } = await reading.ended;
      expect(err).toBe("");
      expect(clientLines(out).slice(1)).toEqual([{ answers: 4 }, { active: false }]);
      expect(await podsOf(place.namespace)).toEqual([]);
    },
    limitUnderLoad(240_000, 480_000),
  );

  test(
    "a command that could not be started, and one that is detached",
    async () => {
      const place = await newPlace();
      const missing = await viceroyJob(place, "run", "--", "no-such-program", "x");
      expect(missing.err.split("\n").slice(1).join("\n")).toMatch(
        /^cannot start job "viceroy": its command "no-such-program" could not be started: spawn no-such-program ENOENT in \S+ of its pod\n$/,
      );
      expect(missing.code).toBe(127);

      const detached = await viceroyJob(place, "run", "--detach", "--json", "--", "node", "--print", "6 * 7");
      expect(detached.code).toBe(0);
      const batch = lab().config.makeApiClient(BatchV1Api);
      const job = { namespace: place.namespace, name: "viceroy-command" };
      await until(
        async () => (await batch.readNamespacedJob(job)).status?.completionTime !== undefined,
        limitUnderLoad(60_000, 240_000),
      );
      expect((await viceroyJob(place, "state")).out).toContain("exit code 0");
      expect((await viceroyJob(place, "logs")).out).toContain("42\n");
    },
    limitUnderLoad(240_000, 480_000),
  );

  test(
    "a pod without its service account, and one whose image is missing, are errors that say what to do",
    async () => {
      const place = await newPlace({ isPermitted: false });
      const { code, err } = await viceroyJob(place, "run", "--", "true");
      expect(err.split("\n").slice(1).join("\n")).toMatch(
        new RegExp(
          '^cannot start job "viceroy": the pod of its command has no service account: Job viceroy-command cannot make a pod: .*' +
            'error looking up service account .*viceroy-command.*; make it with the objects that "viceroy job rbac" prints\n$',
        ),
      );
      expect(code).toBe(127);
      expect(await podsOf(place.namespace)).toEqual([]);

      // The user of the kubeconfig file can be looked up when something is refused.
      const context = JSON.parse((await viceroyJob(place, "context", "--json")).out);
      expect(context).toMatchObject({ namespace: place.namespace, server: lab().config.getCurrentCluster()!.server });
      expect(context.access).toMatch(/^context "lab" of \//);
      expect(context.user).toMatch(new RegExp(`^system:serviceaccount:${place.namespace}:user-`));

      const other = await newPlace({ meshes: { workers: { hosts: 1, image: "registry.invalid/none:1" } } });
      const image = await viceroyJob(
        { ...other, options: { ...other.options, hostTimeout: "20s" } },
        "run",
        "--",
        "true",
      );
      expect(image.err).toMatch(
        /cannot start job "viceroy": .*pod viceroy-command-0-\w+.* cannot get its image \((ErrImagePull|ImagePullBackOff)\)/,
      );
      expect(image.code).toBe(127);
    },
    limitUnderLoad(240_000, 480_000),
  );

  test(
    "a pod that is evicted is the end of the job, with the reason",
    async () => {
      const place = await newPlace();
      const started = startViceroyJob(place, "run", ...client(place, ["node", "--import", "tsx"], "wait"));
      await clientAt(place);
      const { namespace } = place;
      const name = (await commandPod(namespace))!.metadata!.name!;
      const core = lab().config.makeApiClient(CoreV1Api);
      await core.createNamespacedPodEviction({ namespace, name, body: { metadata: { name, namespace } } });
      const { code, out, err } = await started.ended;
      // It has got SIGTERM while its hosts were still there.
      expect(clientLines(out).slice(1)).toEqual([{ answers: 4 }, { active: false }]);
      expect(`${code} ${err}`).toMatch(
        /^1 .*\njob "viceroy" is gone: it has ended without its command: pod viceroy-command-0-\w+ is evicted, as when its node is drained/,
      );
      // What the command had time to do, it did; the hosts end with it.
      await until(async () => (await podsOf(namespace)).every(isOfCommand), limitUnderLoad(60_000, 240_000));
    },
    limitUnderLoad(240_000, 480_000),
  );
});
