/** Tests the example `kubernetes` in processes on this machine, and in pods of which one is lost. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { CoreV1Api } from "@kubernetes/client-node";
import { expect, test } from "vitest";
import { onKubernetes } from "../kubernetes/lab/on-kubernetes.js";
import { until } from "../proc/until.js";
import { outputOf } from "./markdown.js";
import { root, runExample } from "./program.js";

const page = "docs/examples/kubernetes.md";

test("kubernetes: without a cluster, the program runs in processes on this machine, as the page shows", async () => {
  const { code, stdout, stderr } = await runExample("kubernetes", ["--local"]);
  expect(stderr).toBe("");
  expect(stdout.trim()).toBe(outputOf(page));
  expect(code).toBe(0);
});

onKubernetes("the example", (lab) => {
  const core = () => lab().config.makeApiClient(CoreV1Api);
  const podsOf = async (namespace: string) => (await core().listNamespacedPod({ namespace })).items;

  function start(namespace: string) {
    const args = ["--namespace", namespace, "--image", lab().nodeImage];
    const env = { ...process.env, KUBECONFIG: lab().kubeconfig };
    const child = spawn(process.execPath, ["--import", "tsx", "examples/kubernetes/src/main.ts", ...args], {
      cwd: root,
      env,
    });
    return { child, exited: once(child, "exit"), stdout: text(child.stdout), stderr: text(child.stderr) };
  }

  /** Deletes a pod while the program is stopped, so that the program cannot end before. */
  async function losePod(namespace: string, program: ChildProcess): Promise<string> {
    const [name] = (await podsOf(namespace)).map(({ metadata }) => metadata!.name!);
    program.kill("SIGSTOP");
    await core().deleteNamespacedPod({ namespace, name: name!, gracePeriodSeconds: 0 });
    await until(async () => (await podsOf(namespace)).every(({ metadata }) => metadata!.name !== name));
    program.kill("SIGCONT");
    return name!;
  }

  test("kubernetes: in pods, the program prints the same although one of them is lost, and leaves nothing behind", async () => {
    const namespace = await lab().namespace({ "pod-security.kubernetes.io/enforce": "restricted" });
    const { child, exited, stdout, stderr } = start(namespace);
    await once(child.stdout, "data");
    const lost = await losePod(namespace, child);
    expect(await exited).toEqual([0, null]);
    expect((await stdout).trim()).toBe(outputOf(page));
    expect(await stderr).toMatch(new RegExp(`^host-lost: pod ${lost} of searchers\\[[01]\\] `, "m"));
    expect(await stderr).toMatch(/^host-replaced: /m);
    expect(await podsOf(namespace)).toEqual([]);
    const { items } = await core().listNamespacedConfigMap({ namespace });
    expect(items.map(({ metadata }) => metadata!.name).filter((name) => name!.startsWith("chains"))).toEqual([]);
  });
});
