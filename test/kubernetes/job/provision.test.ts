/** Tests of programs in pods that get further hosts from the controller, which runs as a program of its own. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { text as readText } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { CoreV1Api, type V1Pod } from "@kubernetes/client-node";
import type { KubernetesJobOptions, ProvisionMesh } from "viceroy/job";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew } from "../../proc/crew.js";
import { collectUnhandledFaults } from "../../proc/unhandled-faults.js";
import { limitUnderLoad, until } from "../../proc/until.js";
import { type Asked, askForHosts } from "../controller/ask-for-hosts.js";
import { StartedController } from "../controller/started-controller.js";
import { JobsOfTests, replacementMs } from "../lab/jobs-of-tests.js";
import { backend, onKubernetes } from "../lab/on-kubernetes.js";
import { dropOptionsOfRunner } from "../lab/runner-options.js";

/** Time in ms for hosts to be provisioned, and for those to end whose lease is over. */
const limit = limitUnderLoad(240_000, 480_000);

let crew: Crew;
// The processes of a pod that is deleted are lost.
collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
  dropOptionsOfRunner();
});

onKubernetes("hosts that programs in pods provision", (lab) => {
  const jobs = new JobsOfTests(lab);
  let askers = "";
  let generators = "";
  let controller: StartedController;

  const rules = (hosts = 3, more = "") => `
- name: small
  who: { namespaces: [${askers}], jobs: ["train*"] }
  allow: { namespaces: [${generators}], images: ["${lab().nodeImage}"], hosts: ${hosts}${more} }
`;

  beforeAll(async () => {
    askers = await lab().namespace();
    generators = await lab().namespace({ "pod-security.kubernetes.io/enforce": "restricted" });
    controller = await StartedController.start(lab(), await lab().namespace(), rules());
  });
  afterEach(async () => {
    writeFileSync(controller.rulesFile, rules());
    await jobs.killAll();
    await nothingLeft();
  });
  afterAll(() => controller?.kill());

  async function podsOf(namespace: string) {
    const { items } = await lab().config.makeApiClient(CoreV1Api).listNamespacedPod({ namespace });
    return items;
  }

  /** Starts a job whose pods may ask the controller. */
  async function asking(name = "train", own: Partial<KubernetesJobOptions<"trainers">> = {}) {
    await controller.saw("published");
    const meshes = { trainers: { hosts: 1, image: lab().nodeImage } };
    const job = jobs.make<"trainers">({ name, namespace: askers, meshes, provision: { url: controller.url }, ...own });
    return (await job.state()).trainers;
  }

  type Asking = Awaited<ReturnType<typeof asking>>;

  /** Starts a process in the first pod, which asks for hosts before its actors start. */
  function provision(trainers: Asking, meshes: Record<string, Partial<ProvisionMesh>>, asked?: Asked) {
    const withImage = Object.entries(meshes).map(([mesh, own]) => [mesh, { image: lab().nodeImage, ...own }]);
    return askForHosts(crew, trainers, Object.fromEntries(withImage), asked);
  }

  const nothingLeft = () => until(async () => (await podsOf(generators)).length === 0, replacementMs);

  test(
    "a process in a pod gets hosts in the namespace that a rule names, uses them, and releases them",
    async () => {
      const { got } = await provision(await asking(), { generators: { hosts: 2 } }, { releases: true });
      expect(got).toEqual({ places: ["generators[0]", "generators[1]"] });
      const granted = await controller.saw("granted", ({ job }) => job === "train");
      expect(granted).toMatchObject({ namespace: generators, rule: "small", serviceAccount: "default" });
      await nothingLeft();
      const secrets = await lab()
        .config.makeApiClient(CoreV1Api)
        .listSecretForAllNamespaces({ labelSelector: "viceroy/provision" });
      expect(secrets.items.filter(({ metadata }) => metadata!.name!.includes(String(granted["id"])))).toEqual([]);
    },
    limit,
  );

  test(
    "a plain program in a pod gets hosts, too",
    async () => {
      await controller.saw("published");
      const meshes = { trainers: { hosts: 1, image: lab().nodeImage } };
      const job = jobs.make({ name: "train", namespace: askers, meshes, provision: { url: controller.url } });
      const asked = {
        meshes: { generators: { hosts: 2, image: lab().nodeImage } },
        options: { sync: backend === "cluster" },
      };
      const program = fileURLToPath(new URL("provision-program.mjs", import.meta.url));
      const run = await job.spmd({ env: { PROVISION: JSON.stringify(asked) } }, ["node", program]);
      expect(await run.exited()).toBe(2);
    },
    limit,
  );

  test(
    "what no rule allows is refused with the rule, its limit, and what is used",
    async () => {
      const trainers = await asking();
      const refusal = async (...asked: readonly [Partial<ProvisionMesh>, { namespace?: string }?]) =>
        (await provision(trainers, { generators: asked[0] }, asked[1])).got;
      const error = (reason: string) => ({
        name: "JobProvisionError",
        message: `cannot provision hosts for job "train": ${reason}`,
      });
      expect(await refusal({ hosts: 4 })).toEqual(
        error(
          'rule "small" allows a job at most 3 hosts at the same time: 4 hosts are asked for, and 0 hosts are used',
        ),
      );
      expect(await refusal({ hosts: 1, image: "evil:1" })).toEqual(
        error(`rule "small" allows the images "${lab().nodeImage}", and not "evil:1" of mesh "generators"`),
      );
      expect(await refusal({ hosts: 1, template: { spec: { hostNetwork: true } } })).toEqual(
        error('rule "small" does not allow the option template of mesh "generators"; its options are none'),
      );
      expect(await refusal({ hosts: 1 }, { namespace: askers })).toEqual(
        error(`rule "small" allows hosts in "${generators}", and not in namespace "${askers}"`),
      );
      writeFileSync(controller.rulesFile, rules(3, ", gpu: 1"));
      expect(await refusal({ hosts: 1 })).toEqual(
        error(
          `the rules of the controller cannot be used, so nothing is allowed: ${controller.rulesFile}: line 4: [0].allow.gpu: ` +
            "no rule has such a field; expected one of namespaces, images, hosts, jobs, gpus, cpus, memory, options",
        ),
      );
      await controller.saw("broken rules");
    },
    limit,
  );

  test(
    "a job that no rule names gets nothing, and a job without the option cannot ask",
    async () => {
      const other = await provision(await asking("other"), { generators: { hosts: 1 } });
      expect(other.got.message).toBe(
        `cannot provision hosts for job "other": no rule applies to job "other" of service account "default" in namespace "${askers}"`,
      );
      const meshes = { trainers: { hosts: 1, image: lab().nodeImage } };
      const { trainers } = await jobs.make({ name: "train", namespace: askers, meshes }).state();
      const { got } = await provision(trainers, { generators: { hosts: 1 } });
      expect(got.message).toBe(
        'cannot provision hosts for job "train": this program does not run in a pod that may ask a controller; submit a KubernetesJob with provision: true',
      );
    },
    limit,
  );

  test(
    "requests of one job share its limits",
    async () => {
      const trainers = await asking();
      const both = await Promise.all([1, 2].map(() => provision(trainers, { generators: { hosts: 2 } })));
      expect(both.filter(({ got }) => got.places?.length === 2)).toHaveLength(1);
      expect(both.map(({ got }) => got.message).find((message) => message !== undefined)).toBe(
        'cannot provision hosts for job "train": rule "small" allows a job at most 3 hosts at the same time: 2 hosts are asked for, and 2 hosts are used',
      );
    },
    limit,
  );

  // The ids of processes in a real pod are those of the pod.
  test.runIf(backend !== "cluster")(
    "the hosts of a process that is killed end when their lease is over",
    async () => {
      const { got, pid } = await provision(await asking(), { generators: { hosts: 1 } });
      expect(got.places).toEqual(["generators[0]"]);
      process.kill(pid, "SIGKILL");
      // The hosts themselves wait for a driver for as long as the controller waits for the lease.
      await controller.saw(
        "ends",
        ({ reason }) =>
          /has not renewed its lease for 15 s|they had no driver for their idle time$/.test(String(reason)),
        limit,
      );
      await nothingLeft();
    },
    limit,
  );

  test(
    "the hosts end with the pod that has asked for them",
    async () => {
      await provision(await asking(), { generators: { hosts: 1 } });
      await jobs.killAll();
      await controller.saw("ends", ({ reason }) =>
        /^the pod ".*" in namespace ".*", which has asked for it, has ended$/.test(String(reason)),
      );
      await nothingLeft();
    },
    limit,
  );

  test(
    "a controller that is killed goes on when it is started again: a lost host comes back, and leases end",
    async () => {
      const { got } = await provision(await asking(), { generators: { hosts: 1 } });
      expect(got.places).toHaveLength(1);
      const [{ metadata: before }] = (await podsOf(generators)) as [V1Pod];
      await controller.kill();
      const core = lab().config.makeApiClient(CoreV1Api);
      await core.deleteNamespacedPod({ namespace: generators, name: before!.name!, gracePeriodSeconds: 0 });
      await controller.startAgain();
      await controller.saw("restored", ({ isThere }) => isThere === true);
      const isBack = ({ metadata, status }: V1Pod) =>
        metadata!.uid !== before!.uid &&
        status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True");
      await until(async () => (await podsOf(generators)).some(isBack), replacementMs);
      await jobs.killAll();
      await nothingLeft();
    },
    limit,
  );

  test(
    "a program and its hosts go on talking while the controller is away, and after another one has taken over",
    async () => {
      const { got, workers } = await provision(await asking(), { generators: { hosts: 1 } }, { calls: true });
      expect(got.places).toHaveLength(1);
      const answers = async () => Number([...(await workers.env.call("ANSWERS")).values()][0]);
      const moreAnswers = async () => {
        const before = await answers();
        await until(async () => (await answers()) > before + 5);
      };
      await until(async () => (await answers()) > 0);
      await controller.kill("SIGTERM");
      await moreAnswers();
      await controller.startAgain();
      await controller.saw("restored", ({ isThere }) => isThere === true);
      await moreAnswers();
    },
    limit,
  );

  test("requests without the token of a pod for the controller are refused", async () => {
    const core = lab().config.makeApiClient(CoreV1Api);
    const tokenFor = async (audience: string) => {
      const body = { spec: { audiences: [audience], expirationSeconds: 600 } };
      return (await core.createNamespacedServiceAccountToken({ name: "default", namespace: askers, body })).status!
        .token;
    };
    const unacceptable =
      'the API server does not accept the token for the audience "viceroy-controller": it has expired, or is for somebody else';
    expect(await post()).toEqual({ status: 401, error: "the request has no token of a service account" });
    expect(await post("nonsense")).toEqual({ status: 401, error: unacceptable });
    expect(await post(await tokenFor("somebody-else"))).toEqual({ status: 401, error: unacceptable });
    expect(await post(await tokenFor("viceroy-controller"))).toEqual({
      status: 403,
      error: `the token of "system:serviceaccount:${askers}:default" is not bound to a pod; ask from a pod of a job`,
    });
  });

  /** Asks the controller as a stranger does who does not check it. */
  async function post(token?: string): Promise<{ status: number; error: string }> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const sent = request(`${controller.url}/v1/provisions`, { method: "POST", headers, rejectUnauthorized: false });
    sent.end("{}");
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    const { error } = JSON.parse(await readText(response)) as { error: string };
    return { status: response.statusCode!, error };
  }
});
