/** Tests of `viceroy job manifest` and `viceroy job rbac`. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { checkKubernetesJob } from "../../../runtime/job/kubernetes/kubernetes-spec.js";
import type { KubernetesObject } from "../../../runtime/job/kubernetes/manifest/objects.js";
import { fullJob, objectsOf } from "./example-job.js";

const cli = fileURLToPath(new URL("../../../dist/cli/viceroy.js", import.meta.url));
const module = fileURLToPath(new URL("described-job.mjs", import.meta.url));

function viceroyJob(...args: readonly string[]) {
  const env = { ...process.env, SPEC: JSON.stringify(checkKubernetesJob(fullJob()).spec) };
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, "job", ...args, "--job", module], {
    encoding: "utf8",
    env,
  });
  return { status, stdout, stderr };
}

function objectsIn(text: string): KubernetesObject[] {
  return parseAllDocuments(text).map((document) => document.toJS());
}

test("the manifest has all objects as they are applied, with notes instead of programs and archives", () => {
  const { status, stdout, stderr } = viceroyJob("manifest");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const printed = objectsIn(stdout);
  const { owner, owned } = objectsOf(fullJob());
  const nameOf = ({ kind, metadata }: KubernetesObject) => `${kind} ${metadata.name}`;
  // The daemon of the test's own objects is smaller than a part.
  expect(printed.map(nameOf).filter((name) => !/^ConfigMap train-program-[1-9]$/.test(name))).toEqual(
    [owner, ...owned].map(nameOf),
  );
  expect(printed[0]!["data"]).toEqual({
    "host.cjs": "The driver writes this when it submits the job.",
    "image.cjs": "The driver writes this when it submits the job.",
    "order.json": "The driver writes this when it submits the job.",
  });
  // People can read it.
  expect(Math.max(...stdout.split("\n").map(({ length }) => length))).toBeLessThan(1000);
  const job = (objects: readonly KubernetesObject[]) =>
    objects.find((object) => nameOf(object) === "Job train-trainers")!["spec"];
  expect(job(printed)).toMatchObject({
    ...(job(owned) as object),
    template: { spec: { initContainers: [{ name: "image", image: "node:22" }], priorityClassName: "high" } },
  } as never);
});

test("the manifest can be printed as a list in JSON", () => {
  const { stdout } = viceroyJob("manifest", "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    apiVersion: "v1",
    kind: "List",
    items: objectsIn(viceroyJob("manifest").stdout),
  });
});

test("the Role names the objects of the job", () => {
  const { status, stdout } = viceroyJob("rbac");
  expect(status).toBe(0);
  const [role, attaching, looking, ...others] = objectsIn(stdout);
  expect(attaching).toMatchObject({ kind: "Role", metadata: { name: "train-attach" } });
  expect(attaching!["rules"]).toContainEqual({
    apiGroups: [""],
    resources: ["secrets"],
    resourceNames: ["train-driver"],
    verbs: ["get"],
  });
  // Who looks reads another Secret, and has no other right that would change something.
  expect(looking).toMatchObject({ kind: "Role", metadata: { name: "train-view" } });
  const lookingRules = looking!["rules"] as { resources: string[]; resourceNames?: string[]; verbs: string[] }[];
  const secrets = lookingRules.filter(({ resources }) => resources.includes("secrets"));
  expect(secrets).toEqual([
    { apiGroups: [""], resources: ["secrets"], resourceNames: ["train-viewer"], verbs: ["get"] },
  ]);
  const changing = lookingRules.filter(({ verbs }) => verbs.some((verb) => !["get", "list", "watch"].includes(verb)));
  expect(changing.flatMap(({ resources }) => resources)).toEqual(["pods/portforward"]);
  expect(others.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    "ServiceAccount train-command",
    "Role train-command",
    "RoleBinding train-command",
  ]);
  // The pod of a command can make no object, and reads no Secret.
  const verbs = (others[1]!["rules"] as { resources: string[]; verbs: string[] }[]).flatMap((rule) => rule.verbs);
  expect(verbs).not.toContain("create");
  expect(others[1]!["rules"]).toContainEqual({
    apiGroups: ["batch"],
    resources: ["jobs"],
    resourceNames: ["train-trainers", "train-loaders"],
    verbs: ["get", "patch", "delete"],
  });
  expect(role).toMatchObject({ kind: "Role", metadata: { name: "train-driver", namespace: "team" } });
  expect(role!["rules"]).toContainEqual({
    apiGroups: ["batch"],
    resources: ["jobs"],
    resourceNames: ["train-trainers", "train-loaders", "train-command"],
    verbs: ["get", "patch"],
  });
});

test.each([
  ["manifest", "print the manifest"],
  ["rbac", "print the Role"],
  ["context", "print the context"],
])("%s says that a job of another kind has none", (command, what) => {
  expect(viceroyJob(command, "--export", "other")).toEqual({
    status: 3,
    stdout: "",
    stderr: `cannot ${what} of job "viceroy": it is a job of the provider "process"; give a KubernetesJob\n`,
  });
});
