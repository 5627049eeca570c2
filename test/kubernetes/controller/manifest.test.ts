/** Tests of the objects of the controller, as `viceroy controller manifest` prints them. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { podSecurityViolations } from "../api-server/pod-security.js";
import type { ApiObject } from "../api-server/resources.js";

const cli = fileURLToPath(new URL("../../../dist/cli/viceroy.js", import.meta.url));

const rules = `
- name: research
  who: { namespaces: [research] }
  allow: { namespaces: [generators], images: ["node:*"], hosts: 2 }
- name: own
  who: { namespaces: [research, other] }
  allow: { images: ["node:*"], hosts: 2 }
`;

interface Printed {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  // biome-ignore lint/suspicious/noExplicitAny: The fields of an object depend on its kind.
  readonly [field: string]: any;
}

function manifest(text: string, ...args: readonly string[]) {
  const file = path.join(mkdtempSync(path.join(tmpdir(), "vk-")), "rules.yaml");
  writeFileSync(file, text);
  const all = ["controller", "manifest", "--rules", file, "--image", "viceroy:1", ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...all], { encoding: "utf8" });
  const objects = parseAllDocuments(stdout).map((document) => document.toJS() as Printed);
  return { status, stderr, objects, file };
}

test("the manifest has everything that the controller needs, in an order in which it can be applied", () => {
  const { objects } = manifest(rules);
  expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? "-"}/${metadata.name}`)).toEqual([
    "Namespace -/viceroy-system",
    "ServiceAccount viceroy-system/viceroy-controller",
    "ClusterRole -/viceroy-controller",
    "ClusterRoleBinding -/viceroy-controller",
    "Role viceroy-system/viceroy-controller",
    "RoleBinding viceroy-system/viceroy-controller",
    "Role research/viceroy-controller",
    "RoleBinding research/viceroy-controller",
    "Role other/viceroy-controller",
    "RoleBinding other/viceroy-controller",
    "Role generators/viceroy-controller",
    "RoleBinding generators/viceroy-controller",
    "Secret viceroy-system/viceroy-controller",
    "ConfigMap research/viceroy-controller",
    "ConfigMap other/viceroy-controller",
    "ConfigMap viceroy-system/viceroy-controller-rules",
    "Deployment viceroy-system/viceroy-controller",
    "Service viceroy-system/viceroy-controller",
    "NetworkPolicy viceroy-system/viceroy-controller",
  ]);
  expect(objects.find(({ metadata }) => metadata.name === "viceroy-controller-rules")!["data"]).toEqual({
    "rules.yaml": rules,
  });
});

test("the controller proves tokens in the cluster, reads Secrets in its own namespace, and makes hosts where rules allow them", () => {
  const { objects } = manifest(rules, "--namespace", "own-system");
  const roles = objects.filter(({ kind }) => kind === "Role" || kind === "ClusterRole");
  const may = (namespace: string | undefined, resource: string) =>
    roles
      .filter(({ metadata }) => metadata.namespace === namespace)
      .flatMap(({ rules: own }) => own as { resources: string[]; verbs: string[] }[])
      .filter(({ resources }) => resources.includes(resource))
      .flatMap(({ verbs }) => verbs);
  expect(may(undefined, "tokenreviews")).toEqual(["create"]);
  expect(may("own-system", "secrets")).toEqual(["create", "get", "list", "patch", "delete"]);
  expect(may("own-system", "jobs")).toEqual([]);
  expect(may("generators", "secrets")).toEqual(["create", "patch"]);
  expect(may("generators", "jobs")).toContain("create");
  expect(may("generators", "pods")).not.toContain("create");
  expect(may("research", "jobs")).toContain("create");
});

test("where programs only ask, the controller may write the ConfigMap of its authority, and no other one", () => {
  const { objects } = manifest(rules.split("- name: own")[0]!);
  const { rules: own } = objects.find(({ kind, metadata }) => kind === "Role" && metadata.namespace === "research")!;
  expect(own).toEqual([
    { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
    { apiGroups: [""], resources: ["configmaps"], resourceNames: ["viceroy-controller"], verbs: ["patch"] },
  ]);
});

test("the pod passes Pod Security restricted, and runs the command with the mounted rules", () => {
  const { objects } = manifest(rules);
  const { template, strategy, replicas } = objects.find(({ kind }) => kind === "Deployment")!["spec"];
  expect({ strategy, replicas }).toEqual({ strategy: { type: "Recreate" }, replicas: 1 });
  const [namespace] = objects as unknown as [ApiObject];
  expect(podSecurityViolations(namespace, template.spec)).toEqual([]);
  const [container] = template.spec.containers;
  expect(container.command.join(" ")).toBe(
    "viceroy controller run --rules /etc/viceroy/rules.yaml --namespace viceroy-system --lease 60s",
  );
  const [changed] = manifest(rules, "--lease", "2m").objects.filter(({ kind }) => kind === "Deployment");
  expect(changed!["spec"].template.spec.containers[0].command.slice(-2)).toEqual(["--lease", "2m"]);
});

test("a lease that is too short for programs to renew it is refused", () => {
  expect(manifest(rules, "--lease", "5s")).toMatchObject({
    status: 3,
    stderr: 'cannot print the manifest: expected --lease of at least 15000 ms, got "5s"\n',
    objects: [],
  });
});

test("rules with a mistake are printed nowhere", () => {
  const { status, stderr, objects, file } = manifest(rules.replace("hosts: 2", "hosts: 0"));
  expect({ status, stderr, objects }).toEqual({
    status: 3,
    stderr: `cannot use the rules in ${file}: line 4: [0].allow.hosts: expected a whole number of at least 1, got 0\n`,
    objects: [],
  });
});

test("a file of rules that cannot be read is named", () => {
  const options = ["controller", "manifest", "--rules", "/nowhere/rules.yaml", "--image", "viceroy:1"];
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...options], { encoding: "utf8" });
  expect({ status, stdout, stderr }).toEqual({
    status: 3,
    stdout: "",
    stderr: "cannot read the rules: ENOENT: no such file or directory, open '/nowhere/rules.yaml'\n",
  });
});

test.each([
  [["--listen", "nonsense"], 'cannot run the controller: expected --listen as address:port, got "nonsense"\n'],
  [["--lease", "14s"], 'cannot run the controller: expected --lease of at least 15000 ms, got "14s"\n'],
  [["--namespace", "My System"], "cannot make a job: expected namespace as 1 to 63 lower-case letters"],
])("the controller does not run with a malformed option: %j", (args, message) => {
  const options = ["controller", "run", "--rules", "rules.yaml", ...args];
  const { status, stderr } = spawnSync(process.execPath, [cli, ...options], { encoding: "utf8" });
  expect(status).toBe(3);
  expect(stderr).toContain(message);
});
