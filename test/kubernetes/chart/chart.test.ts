/** Tests that the chart makes the objects which `viceroy controller manifest` prints, and refuses values that it cannot use. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type ChartObject, chart, described, hasHelm, helm, objectsIn, version } from "./helm.js";

const cli = fileURLToPath(new URL("../../../dist/cli/viceroy.js", import.meta.url));

const research = {
  name: "research",
  who: { namespaces: ["research"], serviceAccounts: ["*"], jobs: ["train-*"] },
  allow: { namespaces: ["generators"], images: ["node:22", "registry.example/*"], hosts: 8, gpus: 8, memory: "256GiB" },
};
const own = {
  name: "own",
  who: { namespaces: ["research", "other", "123"] },
  allow: { images: ["node:*"], hosts: 1000, cpus: 0.5, memory: 274_877_906_944, options: ["queue"] },
};
const inside = {
  name: "inside",
  who: { namespaces: ["viceroy-system"] },
  allow: { images: ["node:*"], hosts: 1, jobs: 2 },
};

test("the versions of the chart are that of the package", () => {
  expect(described).toMatchObject({ version, appVersion: version });
});

/** Returns the objects that `viceroy controller manifest` prints. */
function printed(rules: readonly object[], image: string, namespace: string, lease: string): ChartObject[] {
  const file = path.join(mkdtempSync(path.join(tmpdir(), "vk-")), "rules.json");
  writeFileSync(file, JSON.stringify(rules));
  const options = ["--rules", file, "--image", image, "--namespace", namespace, "--lease", lease];
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, "controller", "manifest", ...options], {
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return objectsIn(stdout);
}

function rendered(values: object, namespace = "viceroy-system"): ChartObject[] {
  const { status, stdout, stderr } = helm(["template", "viceroy", chart, "--namespace", namespace], values);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return objectsIn(stdout);
}

/** Returns objects by their kinds and names, with the text of the rules as the rules, because Helm prints YAML otherwise. */
function byName(objects: readonly ChartObject[]): Record<string, object> {
  const named = Object.fromEntries(
    objects.map(({ data, ...object }) => [
      `${object.kind} ${object.metadata.namespace ?? "-"}/${object.metadata.name}`,
      data === undefined ? object : { ...object, rules: parse(data["rules.yaml"]) },
    ]),
  );
  expect(Object.keys(named)).toHaveLength(objects.length);
  return named;
}

describe.runIf(hasHelm)("the chart of the controller", () => {
  test("passes the checks of Helm, warnings included", () => {
    const { status, stdout } = helm(["lint", "--strict", chart], { image: "viceroy:1", rules: [research, own] });
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining("0 chart(s) failed") });
  });

  test.each([
    ["one rule", [research], "viceroy:1", "viceroy-system", 60],
    ["rules that share namespaces", [research, own], "registry.example:5000/viceroy:1", "viceroy-system", 90],
    ["a rule for the namespace of the controller", [inside, own], "viceroy:1", "viceroy-system", 15],
    ["another namespace, whose name is a number", [research], "viceroy:1", "42", 60],
    ["no rules", [], "viceroy:1", "viceroy-system", 60],
  ] as const)(
    "makes the printed objects but the namespace, which Helm makes: %s",
    (_, rules, image, namespace, leaseSeconds) => {
      const made = byName(rendered({ rules, image, leaseSeconds }, namespace));
      const { [`Namespace -/${namespace}`]: ofHelm, ...wanted } = byName(
        printed(rules, image, namespace, `${leaseSeconds}s`),
      );
      expect(ofHelm).toBeDefined();
      expect(made).toEqual(wanted);
    },
  );

  test("further values go to the pod, and change nothing else", () => {
    const pod = {
      imagePullSecrets: [{ name: "registry" }],
      nodeSelector: { disk: "ssd" },
      tolerations: [{ key: "control", operator: "Exists" }],
      affinity: { nodeAffinity: {} },
      priorityClassName: "high",
    };
    const resources = { limits: { memory: "2Gi" }, requests: { cpu: "100m", memory: "128Mi" } };
    const further = { ...pod, resources, imagePullPolicy: "Always", podAnnotations: { "example.com/scrape": "no" } };
    const base = { image: "viceroy:1", rules: [research] };
    const [plain, changed] = [rendered(base), rendered({ ...base, ...further })].map(byName);
    const name = "Deployment viceroy-system/viceroy-controller";
    const { [name]: before, ...others } = plain!;
    const { [name]: after, ...same } = changed!;
    expect(same).toEqual(others);
    const { metadata, spec } = (before as ChartObject)["spec"].template;
    expect((after as ChartObject)["spec"].template).toEqual({
      metadata: { ...metadata, annotations: further.podAnnotations },
      spec: {
        ...spec,
        ...pod,
        containers: [{ ...spec.containers[0], resources, imagePullPolicy: "Always" }],
      },
    });
  });

  test.each([
    [
      { rules: [{ ...research, allow: { ...research.allow, hosts: 0 } }] },
      "at '/rules/0/allow/hosts': minimum: got 0, want 1",
    ],
    [
      { rules: [{ ...research, who: { namespaces: ["team-*"] } }] },
      "at '/rules/0/who/namespaces/0': 'team-*' does not match pattern '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$'",
    ],
    [
      { rules: [{ ...research, allow: { images: ["a"], hosts: 1, gpu: 1 } }] },
      "at '/rules/0/allow': additional properties 'gpu' not allowed",
    ],
    [{ rules: [{ name: "x", allow: research.allow }] }, "at '/rules/0': missing property 'who'"],
    [{ leaseSeconds: 5 }, "at '/leaseSeconds': minimum: got 5, want 15"],
    [{ leaseSeconds: "60s" }, "at '/leaseSeconds': got string, want integer"],
    [
      { imagePullPolicy: "Sometimes" },
      "at '/imagePullPolicy': value must be one of '', 'Always', 'IfNotPresent', 'Never'",
    ],
    [{ replicas: 2 }, "at '': additional properties 'replicas' not allowed"],
    [
      { image: "" },
      "cannot make the controller: expected image as the name of a container image with Node.js and the package viceroy, got none; give --set image=…",
    ],
    [
      { rules: [research, research] },
      'cannot use the rules: expected another name than that of another rule, got "research"',
    ],
  ])("refuses a wrong value with its place: %j", (wrong, message) => {
    const values = { image: "viceroy:1", rules: [research], ...wrong };
    const { status, stdout, stderr } = helm(["template", "viceroy", chart], values);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toContain(message);
  });
});
