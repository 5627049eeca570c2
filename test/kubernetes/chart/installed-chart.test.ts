/** Tests that a real API server takes the chart of the controller, and that nothing of it stays. The stand-in has no schemas that could refuse it. */
import { ApiException, CoreV1Api, RbacAuthorizationV1Api } from "@kubernetes/client-node";
import { expect, it } from "vitest";
import { StartedController } from "../controller/started-controller.js";
import { backend, onKubernetes } from "../lab/on-kubernetes.js";
import { chart, hasHelm, helm } from "./helm.js";

const name = "viceroy-controller";

onKubernetes("the chart of the controller", (lab) => {
  function release(command: string, args: readonly string[], values?: object): string {
    const run = helm([command, "viceroy", ...args, "--kubeconfig", lab().kubeconfig], values);
    expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: "" });
    return run.stdout;
  }

  async function found<T>(call: Promise<T>): Promise<T | undefined> {
    return call.catch((error: unknown) => {
      if (error instanceof ApiException && error.code === 404) return undefined;
      throw error;
    });
  }

  it.runIf(backend !== "stand-in" && hasHelm)(
    "is installed, upgraded without a change of the key that the controller has made, and uninstalled without a rest",
    async () => {
      const [namespace, askers, later, hosts] = [
        await lab().namespace({ "pod-security.kubernetes.io/enforce": "restricted" }),
        await lab().namespace(),
        await lab().namespace(),
        await lab().namespace(),
      ];
      const core = lab().config.makeApiClient(CoreV1Api);
      const rbac = lab().config.makeApiClient(RbacAuthorizationV1Api);
      const rule = (asker: string) => ({
        name: asker,
        who: { namespaces: [asker] },
        allow: { namespaces: [hosts], images: ["node:*"], hosts: 2 },
      });
      const values = (...rules: readonly object[]) => ({ image: lab().nodeImage, rules });
      const place = ["--namespace", namespace];
      // Objects that kubectl has made are not taken over.
      const account = { metadata: { name, namespace } };
      await core.createNamespacedServiceAccount({ namespace, body: account });
      const refused = helm(
        ["install", "viceroy", chart, ...place, "--kubeconfig", lab().kubeconfig],
        values(rule(askers)),
      );
      expect(refused.stderr).toContain("exists and cannot be imported into the current release");
      await core.deleteNamespacedServiceAccount({ name, namespace });
      const installed = release("install", [chart, ...place], values(rule(askers)));
      expect(installed).toContain(`Pods of these namespaces may ask it for hosts: ${askers}.`);
      expect(installed).toContain(`{ url: "https://viceroy-controller.${namespace}.svc" }`);

      // The controller fills in the Secret and the ConfigMap with the permissions of the chart alone.
      const controller = await StartedController.startInstalled(lab(), namespace, JSON.stringify([rule(askers)]));
      try {
        await controller.saw("published", ({ namespace: at }) => at === askers);
      } finally {
        await controller.kill();
      }
      const key = async () => (await core.readNamespacedSecret({ name, namespace })).data;
      const authority = async (at: string) =>
        (await found(core.readNamespacedConfigMap({ name, namespace: at })))?.data;
      const before = { key: await key(), authority: await authority(askers) };
      expect(Object.keys(before.key!).sort()).toHaveLength(2);
      expect(Object.keys(before.authority!)).toEqual(["authority.pem"]);

      release("upgrade", [chart, ...place], values(rule(askers), rule(later)));
      expect({ key: await key(), authority: await authority(askers) }).toEqual(before);
      expect(await found(rbac.readNamespacedRole({ name, namespace: later }))).toBeDefined();
      const rules = await core.readNamespacedConfigMap({ name: `${name}-rules`, namespace });
      expect(rules.data!["rules.yaml"]).toContain(`name: ${later}`);

      release("uninstall", place);
      expect(await authority(askers)).toBeUndefined();
      expect(await found(rbac.readClusterRole({ name }))).toBeUndefined();
      for (const at of [namespace, askers, later, hosts]) {
        const rest = lab().kubectl(
          "get",
          "all,secrets,configmaps,roles,rolebindings,networkpolicies",
          "--namespace",
          at,
          "--output",
          "name",
        );
        const own = rest.split("\n").filter((line) => line !== "" && line !== "configmap/kube-root-ca.crt");
        // The pod ends when its kubelet has ended it.
        expect(own.filter((line) => !line.startsWith("pod/"))).toEqual([]);
      }
    },
  );
});
