/** Tests of the controller as users install it: its image, the objects that the command prints, and a Deployment that runs it in a pod. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { AppsV1Api, CoreV1Api } from "@kubernetes/client-node";
import { Compute } from "viceroy/job";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { type Crew, loadCrew } from "../../proc/crew.js";
import { collectUnhandledFaults } from "../../proc/unhandled-faults.js";
import { limitUnderLoad, until } from "../../proc/until.js";
import { controllerImage } from "../cluster/images.js";
import { JobsOfTests, replacementMs } from "../lab/jobs-of-tests.js";
import { backend, onKubernetes } from "../lab/on-kubernetes.js";
import { dropOptionsOfRunner } from "../lab/runner-options.js";
import { askForHosts } from "./ask-for-hosts.js";

const cli = fileURLToPath(new URL("../../../dist/cli/viceroy.js", import.meta.url));
const name = "viceroy-controller";
const folder = mkdtempSync(path.join(tmpdir(), "vk-"));

let crew: Crew;
// The processes of a pod that is deleted are lost.
collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
  dropOptionsOfRunner();
});
afterAll(() => rmSync(folder, { recursive: true }));

onKubernetes("the controller in a pod", (lab) => {
  const jobs = new JobsOfTests(lab);
  const printed = path.join(folder, "controller.json");
  afterEach(async () => {
    await jobs.killAll();
    if (backend === "cluster") lab().kubectl("delete", "--ignore-not-found", "--filename", printed);
  });

  it.runIf(backend === "cluster")(
    "is installed by kubectl from the printed file, gives hosts to a program, and goes on with them after its pod was replaced",
    async () => {
      await lab().addControllerImage();
      const namespace = "viceroy-system";
      const [askers, generators] = [
        await lab().namespace(),
        await lab().namespace({ "pod-security.kubernetes.io/enforce": "restricted" }),
      ];
      const rules = path.join(folder, "rules.yaml");
      writeFileSync(
        rules,
        `- name: small
  who: { namespaces: [${askers}], jobs: ["train*"] }
  allow: { namespaces: [${generators}], images: ["${lab().nodeImage}"], hosts: 2 }
`,
      );
      const command = ["controller", "manifest", "--rules", rules, "--image", controllerImage, "--lease", "30s"];
      writeFileSync(printed, execFileSync(process.execPath, [cli, ...command]));
      lab().kubectl("apply", "--filename", printed);
      const core = lab().config.makeApiClient(CoreV1Api);
      const podsIn = async (at: string) => (await core.listNamespacedPod({ namespace: at })).items;
      const isUp = async () => {
        const { status } = await lab().config.makeApiClient(AppsV1Api).readNamespacedDeployment({ name, namespace });
        return status?.availableReplicas === 1;
      };
      await until(isUp, replacementMs);
      const [controller] = await podsIn(namespace);

      // This cluster has neither DNS nor services, so the pods of the job are told where the name of the service leads.
      const host = `${name}.${namespace}.svc`;
      const hostAliases = [{ ip: controller!.status!.podIP!, hostnames: [host] }];
      const image = lab().nodeImage;
      const job = jobs.make<"trainers">({
        name: "train",
        namespace: askers,
        meshes: { trainers: { hosts: 1, compute: new Compute({ image, template: { spec: { hostAliases } } }) } },
        provision: { url: `https://${host}:8443` },
      });
      const { trainers } = await job.state();
      const { got, workers } = await askForHosts(crew, trainers, { generators: { hosts: 2, image } }, { calls: true });
      expect(got).toEqual({ places: ["generators[0]", "generators[1]"] });
      const before = (await podsIn(generators)).map(({ metadata }) => metadata!.uid).sort();
      expect(before).toHaveLength(2);

      lab().kubectl(
        "delete",
        "pod",
        "--namespace",
        namespace,
        "--grace-period",
        "0",
        "--force",
        controller!.metadata!.name!,
      );
      await until(async () => {
        const pods = await podsIn(namespace);
        return pods.every(({ metadata }) => metadata!.uid !== controller!.metadata!.uid) && (await isUp());
      }, replacementMs);
      expect((await podsIn(generators)).map(({ metadata }) => metadata!.uid).sort()).toEqual(before);
      expect((await workers.where.call()).size).toBe(1);

      // The hosts end with the program that has asked for them, whose lease the new pod of the controller watches.
      await job.kill();
      await until(async () => (await podsIn(generators)).length === 0, replacementMs);
    },
    limitUnderLoad(400_000, 600_000),
  );
});
