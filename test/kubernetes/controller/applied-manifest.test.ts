/** Tests that a real API server takes what `viceroy controller manifest` prints. The stand-in has no schemas that could refuse it. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { CoreV1Api } from "@kubernetes/client-node";
import { expect, it } from "vitest";
import { until } from "../../proc/until.js";
import { backend, onKubernetes } from "../lab/on-kubernetes.js";

const cli = fileURLToPath(new URL("../../../dist/cli/viceroy.js", import.meta.url));

onKubernetes("the objects of the controller", (lab) => {
  it.runIf(backend !== "stand-in")(
    "are taken as they are printed, a second time too, and a pod is made under Pod Security restricted",
    async () => {
      const [askers, hosts] = [await lab().namespace(), await lab().namespace()];
      const namespace = `${askers}-controller`;
      const folder = mkdtempSync(path.join(tmpdir(), "vk-"));
      const rules = path.join(folder, "rules.yaml");
      const allow = { namespaces: [hosts], images: ["node:*"], hosts: 2 };
      writeFileSync(rules, JSON.stringify([{ name: "research", who: { namespaces: [askers] }, allow }]));
      const options = ["--rules", rules, "--namespace", namespace, "--image", lab().nodeImage];
      const printed = spawnSync(process.execPath, [cli, "controller", "manifest", ...options], { encoding: "utf8" });
      const manifest = path.join(folder, "controller.yaml");
      writeFileSync(manifest, printed.stdout);
      try {
        const first = lab().kubectl("apply", "--filename", manifest).trim().split("\n");
        expect(first).toContain("deployment.apps/viceroy-controller created");
        expect(first.filter((line) => !line.endsWith(" created"))).toEqual([]);
        expect(lab().kubectl("apply", "--filename", manifest)).not.toContain(" created");
        const pods = () => lab().config.makeApiClient(CoreV1Api).listNamespacedPod({ namespace });
        await until(async () => (await pods()).items.length === 1);
      } finally {
        lab().kubectl("delete", "--ignore-not-found", "--wait=false", "--filename", manifest);
      }
    },
  );
});
