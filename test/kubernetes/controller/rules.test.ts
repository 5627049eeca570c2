/** Tests of the rules of the controller: how they are read, and what they decide. */
import { expect, test } from "vitest";
import type { ComputeSpec } from "../../../runtime/job/kubernetes/compute/compute-options.js";
import { type Asker, decide, type Usage, usageOf } from "../../../runtime/job/kubernetes/controller/rules/decide.js";
import { matchesGlob } from "../../../runtime/job/kubernetes/controller/rules/glob.js";
import { parseRules } from "../../../runtime/job/kubernetes/controller/rules/parse-rules.js";

const text = `# who may have which hosts
- name: research
  who:
    namespaces: [research]
    serviceAccounts: [default]
    jobs: ["train-*"]
  allow:
    namespaces: [gpus]
    images: ["node:22", "registry.example/team/*"]
    hosts: 4
    jobs: 2
    gpus: 8
    cpus: 16
    memory: 64GiB
    options: [nodeSelector]
- name: small
  who: { namespaces: [research] }
  allow: { images: ["node:*"], hosts: 1 }
`;

const asker: Asker = { namespace: "research", serviceAccount: "default", pod: "p", uid: "u", job: "train-1" };
const nothing: Usage = { jobs: 0, hosts: 0, gpus: 0, cpus: 0, memory: 0 };
const plain: ComputeSpec = { hosts: 2, image: "node:22", cpus: 1, memory: 2 ** 30 };

function decision(spec: ComputeSpec, used: Partial<Usage> = {}, own: Partial<Asker> & { in?: string } = {}) {
  const { in: namespace, ...further } = own;
  const request = { meshes: { generators: spec }, lostTimeout: 0, ...(namespace === undefined ? {} : { namespace }) };
  return decide(parseRules(text), { ...asker, ...further }, request, () => ({ ...nothing, ...used }));
}

test("YAML and JSON are read, with the defaults of the fields that are left out", () => {
  const { rules } = parseRules(text);
  expect(rules![1]).toEqual({
    name: "small",
    who: { namespaces: ["research"], serviceAccounts: ["*"], jobs: ["*"] },
    allow: {
      namespaces: undefined,
      images: ["node:*"],
      hosts: 1,
      jobs: undefined,
      gpus: 0,
      cpus: undefined,
      memory: undefined,
      options: [],
    },
  });
  expect(
    parseRules(JSON.stringify([{ name: "a", who: { namespaces: ["n"] }, allow: { images: ["*"], hosts: 2 } }])),
  ).toMatchObject({
    rules: [{ name: "a" }],
  });
});

const replaced = (from: string, to: string) => text.replace(from, to);

test.each([
  ["", "line 1: expected a list of rules, got null"],
  ["{ rules: [] }", "line 1: expected a list of rules, got an object"],
  ["- name: [", "it is not YAML: "],
  [replaced("hosts: 4", "hosts: many"), 'line 10: [0].allow.hosts: expected a whole number of at least 1, got "many"'],
  [
    replaced("hosts: 4", "host: 4"),
    "line 10: [0].allow.host: no rule has such a field; expected one of namespaces, images, hosts, jobs, gpus, cpus, memory, options",
  ],
  [replaced("    hosts: 4\n", ""), "line 8: [0].allow.hosts: expected a whole number of at least 1, got undefined"],
  [
    replaced("memory: 64GiB", "memory: 64GB"),
    'line 14: [0].allow.memory: expected bytes or text such as "64GiB", got "64GB"',
  ],
  [
    replaced("cpus: 16", "cpus: 0"),
    "line 13: [0].allow.cpus: expected a number above 0 with at most 3 decimals, got 0",
  ],
  [
    replaced("[nodeSelector]", "[hostNetwork]"),
    'line 15: [0].allow.options[0]: expected one of gpuResource, nodeSelector, priorityClass, queue, secrets, template, tolerations, volumes, got "hostNetwork"',
  ],
  [
    replaced("namespaces: [research]", 'namespaces: ["res*"]'),
    'line 4: [0].who.namespaces[0]: expected the name of a namespace, and no pattern, got "res*"',
  ],
  [
    replaced('jobs: ["train-*"]', "jobs: []"),
    'line 6: [0].who.jobs: expected a list of patterns, such as ["train-*"], got an array of 0',
  ],
  [
    replaced("name: small", "name: research"),
    'line 16: [1].name: expected another name than that of rule [0], got "research"',
  ],
])("a file with a mistake allows nothing, and the fault names the line and the field: %#", (broken, fault) => {
  const rules = parseRules(broken);
  expect(rules.rules).toBeUndefined();
  expect(rules.fault!.slice(0, fault.length)).toBe(fault);
  const denied = decide(rules, asker, { meshes: { generators: plain }, lostTimeout: 0 }, () => nothing);
  expect(denied.denied).toBe(`the rules of the controller cannot be used, so nothing is allowed: ${rules.fault}`);
});

test("the first rule that allows a request decides, in the namespace that it names", () => {
  expect(decision(plain)).toEqual({ rule: "research", namespace: "gpus" });
  expect(decision({ hosts: 1, image: "node:20" }, {}, { job: "other" })).toEqual({
    rule: "small",
    namespace: "research",
  });
  expect(decision({ ...plain, nodeSelector: { pool: "gpu" } })).toEqual({ rule: "research", namespace: "gpus" });
});

test.each<[string, ReturnType<typeof decision>]>([
  [
    'rule "research" allows a job at most 4 hosts at the same time: 2 hosts are asked for, and 3 hosts are used',
    decision(plain, { hosts: 3 }),
  ],
  [
    'rule "research" allows a job at most 2 requests at the same time: 1 requests are asked for, and 2 requests are used',
    decision(plain, { jobs: 2 }),
  ],
  [
    'rule "research" allows a job at most 8 GPUs at the same time: 16 GPUs are asked for, and 0 GPUs are used',
    decision({ ...plain, gpus: 8 }),
  ],
  [
    'rule "research" allows a job at most 16 processors at the same time: 40 processors are asked for, and 0 processors are used',
    decision({ ...plain, cpus: 20 }),
  ],
  [
    'rule "research" allows a job at most 64Gi of memory at the same time: 80Gi of memory are asked for, and 1Gi of memory are used',
    decision({ ...plain, memory: 40 * 2 ** 30 }, { memory: 2 ** 30 }),
  ],
  [
    'rule "research" allows the images "node:22", "registry.example/team/*", and not "evil:1" of mesh "generators"',
    decision({ ...plain, image: "evil:1" }),
  ],
  [
    'rule "research" does not allow the option template of mesh "generators"; its options are "nodeSelector"',
    decision({ ...plain, template: {} }),
  ],
  [
    'rule "research" limits memory, and mesh "generators" does not say how much each of its hosts needs; give memory',
    decision({ hosts: 2, image: "node:22", cpus: 1 }),
  ],
  [
    'rule "research" allows hosts in "gpus", and not in namespace "kube-system"',
    decision(plain, {}, { in: "kube-system" }),
  ],
])("a denial names the rule and the limit: %s", (reason, { denied }) => {
  expect(denied!.split("; rule ")[0]).toBe(reason);
});

test("a denial names each rule that applies, or who has asked if none does", () => {
  expect(decision(plain, { hosts: 4 }, { in: "gpus" }).denied).toBe(
    'rule "research" allows a job at most 4 hosts at the same time: 2 hosts are asked for, and 4 hosts are used; ' +
      'rule "small" allows hosts in "research", and not in namespace "gpus"',
  );
  expect(decision(plain, {}, { namespace: "other" }).denied).toBe(
    'no rule applies to job "train-1" of service account "default" in namespace "other"',
  );
});

test("what is asked for counts all hosts of all meshes", () => {
  const meshes = { a: { ...plain, gpus: 2 }, b: { hosts: 3, image: "node:22", cpus: 0.5 } };
  expect(usageOf({ meshes, lostTimeout: 0 })).toEqual({ jobs: 1, hosts: 5, gpus: 4, cpus: 3.5, memory: 2 ** 31 });
});

test.each([
  ["*", "", true],
  ["a*", "abc", true],
  ["*c", "abc", true],
  ["a*c", "ac", true],
  ["a*a", "a", false],
  ["a*b*c", "aXbYc", true],
  ["a*b*c", "acb", false],
  ["a**c", "abc", true],
  ["a.c", "abc", false],
  ["node:22", "node:22-slim", false],
  [`${"*a".repeat(50)}b`, "a".repeat(10_000), false],
])("pattern %s and text %s", (pattern, name, matches) => {
  expect(matchesGlob(pattern, name)).toBe(matches);
});
