/** Tests of options that a job of Kubernetes refuses, before anything is submitted. */
import { describe, expect, test } from "vitest";
import { Compute } from "../../../runtime/job/kubernetes/compute/compute.js";
import type { ComputeOptions } from "../../../runtime/job/kubernetes/compute/compute-options.js";
import { KubernetesJob } from "../../../runtime/job/kubernetes/kubernetes-job.js";
import { checkKubernetesJob, type KubernetesJobOptions } from "../../../runtime/job/kubernetes/kubernetes-spec.js";

const make = (options: object) => () =>
  checkKubernetesJob({
    namespace: "team",
    meshes: { trainers: { hosts: 2 } },
    ...options,
  } as KubernetesJobOptions<string>);

const from = { namespaces: { "kubernetes.io/metadata.name": "ingress-nginx" } };

describe("an ingress that cannot lead to the hosts is an error that says what to do", () => {
  test.each([
    [
      { host: "Train.example.com", from },
      'expected host of ingress as a host name, such as "train.example.com", got "Train.example.com"',
    ],
    [{ from }, 'expected host of ingress as a host name, such as "train.example.com", got undefined'],
    [{ host: "a.b", path: "train", from }, 'expected path of ingress as a path, such as "/train", got "train"'],
    [{ host: "a.b", path: "/a/../b", from }, 'expected path of ingress as a path, such as "/train", got "/a/../b"'],
    [{ host: "a.b", className: "Nginx", from }, "expected className of ingress as the name of an object"],
    [{ host: "a.b", tls: "my_secret", from }, "expected tls of ingress as the name of an object"],
    [{ host: "a.b", annotations: ["x"], from }, "expected annotations of ingress as text by name"],
    [
      { host: "a.b", annotations: { "a/b/c": "x" }, from },
      "expected names in annotations of ingress as up to 63 letters, digits, and . _ -, after an optional domain and a slash",
    ],
    [{ host: "a.b", annotations: { timeout: 5 }, from }, 'expected "timeout" of annotations of ingress as text, got 5'],
    [
      { host: "a.b" },
      'expected from of ingress as the pods of the ingress controller, such as { namespaces: { "kubernetes.io/metadata.name": "ingress-nginx" } }, got undefined',
    ],
    [{ host: "a.b", from: {} }, "expected from of ingress with at least one label"],
    [{ host: "a.b", from: { pods: {} } }, "expected from of ingress with at least one label"],
    [
      { host: "a.b", from: { pods: { app: "two words" } } },
      'expected "app" of pods of from of ingress as at most 63 letters',
    ],
    [{ host: "a.b", from: { addresses: [] } }, "cannot make a job with from of ingress: "],
    [{ host: "a.b", port: 1, from }, "cannot make a job with ingress: "],
  ])("%j", (ingress, message) => {
    expect(make({ ingress })).toThrow(message);
  });

  test("without certificates, the ingress could read the token", () => {
    expect(make({ tls: false, ingress: { host: "a.b", from } })).toThrow(
      "cannot make a job with ingress: with tls: false, the ingress could read everything, the token of the hosts included; leave tls out",
    );
  });

  test("without a NetworkPolicy, nobody is let in by name", () => {
    expect(make({ drivers: false, ingress: { host: "a.b", from } })).toThrow(
      "cannot make a job with ingress: with drivers: false there is no NetworkPolicy that could let pods in; leave from out",
    );
    expect(make({ drivers: false, ingress: { host: "a.b" } })).not.toThrow();
  });

  test("pods that are there have no ingress of the job", () => {
    const meshes = { trainers: { selector: "app=x", hosts: 1 } };
    expect(() => new KubernetesJob({ namespace: "team", meshes, ingress: { host: "a.b", from } })).toThrow(
      'cannot make a job with ingress: it takes pods of mesh "trainers" that are there, whose ingress is not its own; leave ingress out',
    );
  });
});

describe("names that Kubernetes refuses are errors with the rule, and a name that it takes", () => {
  test.each([
    [
      { name: "My_Job" },
      "cannot make a job: expected name of a KubernetesJob as 1 to 55 lower-case letters, digits and hyphens that begin with a letter " +
        'and end with a letter or a digit, got "My_Job"; "my-job" is one',
    ],
    [{ name: "7up" }, 'got "7up"; "up" is one'],
    [{ name: "trainJob.v2" }, 'got "trainJob.v2"; "train-job-v2" is one'],
    [{ name: "a".repeat(56) }, `(56 units); "${"a".repeat(55)}" is one`],
    [
      { namespace: "Team A" },
      "expected namespace as 1 to 63 lower-case letters, digits and hyphens that begin and end with a letter or a digit, " +
        'got "Team A"; "team-a" is one',
    ],
    [
      { namespace: undefined },
      "expected namespace as 1 to 63 lower-case letters, digits and hyphens that begin and end with a letter or a digit, got undefined",
    ],
    [
      { meshes: { my_mesh: { hosts: 1 } } },
      "expected names of meshes of a KubernetesJob as lower-case letters and digits, because they are parts of the names of pods, " +
        'got "my_mesh"; "mymesh" is one',
    ],
    [
      { queue: "two words" },
      'expected queue as 1 to 63 letters, digits, and . _ - that begin and end with a letter or a digit, got "two words"',
    ],
    [
      { priorityClass: "High" },
      "expected priorityClass as the name of an object: lower-case letters, digits, hyphens and dots that begin",
    ],
    [
      { drivers: { pods: { "a/b/c": "x" } } },
      "expected keys of pods of drivers as up to 63 letters, digits, and . _ -, after an optional domain and a slash",
    ],
    [
      { drivers: { addresses: ["10.0.0.1"] } },
      'expected each of addresses of drivers as a range, such as "10.1.0.0/16", or "192.0.2.7/32" for one address, got "10.0.0.1"',
    ],
  ])("%j", (options, message) => {
    expect(make(options)).toThrow(message);
  });

  test("the longest names that fit are taken, and one more character is not", () => {
    // The host name of the last rank is train…-trainers-999.
    const longest = "t".repeat(63 - "-trainers-999".length);
    const named = (name: string) => make({ name, meshes: { trainers: { hosts: 1000 } } });
    expect(named(longest)().spec.name).toBe(longest);
    expect(named(`${longest}t`)).toThrow(
      'cannot make a job: expected a name of the job and of mesh "trainers" that make host names of at most 63 characters, got 64 in ' +
        `"${longest}t-trainers-999"; give the job or the mesh a shorter name`,
    );
  });
});

describe("meshes", () => {
  test.each([
    [{ trainers: {} }, 'expected hosts of mesh "trainers" as a whole number from 1 to 100000, got undefined'],
    [
      { trainers: { hosts: 0 } },
      'cannot make mesh "trainers" of a job: expected hosts as a whole number of at least 1, got 0',
    ],
    [
      { trainers: { hosts: 1, memory: "4G" } },
      'cannot make mesh "trainers" of a job: expected memory as bytes or as text such as "512Mi", "16Gi", "16GiB", got "4G"',
    ],
    [
      { trainers: { hosts: 1, cpus: 0.0001 } },
      'cannot make mesh "trainers" of a job: expected cpus as a number above 0 with at most 3 decimals, got 0.0001',
    ],
    [
      { trainers: { hosts: 1, gpus: -1 } },
      'cannot make mesh "trainers" of a job: expected gpus as a whole number, got -1',
    ],
    [
      { trainers: { hosts: 1, image: "Node:22" } },
      'expected image as the name of a container image, such as "node:22" or "registry.example/team/image:1", got "Node:22"',
    ],
    [
      { trainers: { hosts: 1, image: 7 } },
      'expected image as the name of a container image, such as "node:22", or as an Image, got 7',
    ],
    [{ trainers: { hosts: 1, compute: {} } }, 'expected compute of mesh "trainers" as a Compute, got an object'],
    [
      { trainers: { selector: "app=x", image: "node:22" } },
      'expected mesh "trainers" with selector, hosts and rank only, because its pods are there already, got "image"',
    ],
    [{ trainers: { hosts: 1, rank: "job" } }, 'expected mesh "trainers" with selector if it has rank, got "rank"'],
    [
      { trainers: { selector: "" } },
      'expected selector of mesh "trainers" as labels of pods, such as "app=worker", got ""',
    ],
    [{ trainers: { selector: "app=x y" } }, 'such as "app=worker", got "app=x y"'],
    [
      { trainers: { selector: "app=x" } },
      'cannot make a job: expected hosts of mesh "trainers" as the number of its pods, got undefined',
    ],
    [
      { trainers: { selector: "app=x", hosts: 0 } },
      'expected hosts of mesh "trainers" as a whole number from 1 to 100000',
    ],
    [
      { trainers: { selector: "app=x", hosts: 1, rank: "pod" } },
      'cannot make mesh "trainers" of a job with rank: expected options like { label }, got "pod"',
    ],
    [
      { trainers: { selector: "app=x", hosts: 1, rank: { label: "-" } } },
      'expected rank of mesh "trainers" as { label: "…" }, "job" or "statefulset", got "-"',
    ],
  ])("%j", (meshes, message) => {
    expect(make({ meshes })).toThrow(message);
  });

  test.each(["app=x", "app==x", "app!=x", "app", "!app", "a.b/c=d,e in (f,g), h notin (i)", "app="])(
    "the selector %j is taken",
    (selector) => {
      expect(make({ meshes: { trainers: { selector, hosts: 2 } } })().spec.meshes["trainers"]).toEqual({
        selector,
        hosts: 2,
        rank: null,
      });
    },
  );

  test("what a mesh says replaces what its compute says", () => {
    const compute = new Compute({ hosts: 4, cpus: 1, memory: "1Gi", image: "node:20" });
    const { meshes } = make({ meshes: { trainers: { compute, hosts: 2, image: "node:22", memory: "2GiB" } } })().spec;
    expect(meshes["trainers"]).toEqual({ hosts: 2, compute: { cpus: 1, memory: 2 ** 31, image: "node:22" } });
  });

  test("a template that the job cannot use is refused before anything is submitted", () => {
    const compute = new Compute({
      hosts: 1,
      template: { spec: { containers: [{ name: "host", command: ["sleep"] }] } },
    });
    expect(make({ meshes: { trainers: { compute } } })).toThrow("changes spec.containers[host].command");
  });
});

describe("Compute", () => {
  test.each<[object, string]>([
    [{ cpu: 1 }, "cannot make a Compute: expected one of the options hosts, cpus,"],
    [
      { gpuResource: "nvidia gpu" },
      'expected gpuResource as the name of a resource, such as "amd.com/gpu", got "nvidia gpu"',
    ],
    [
      { nodeSelector: { disk: "very fast" } },
      'expected "disk" of nodeSelector as at most 63 letters, digits, and . _ - that begin and end with a letter or a digit, got "very fast"',
    ],
    [
      { tolerations: [{ key: "x", operator: "Is" }] },
      'expected operator of tolerations as "Exists", "Equal", "Gt" or "Lt", got "Is"',
    ],
    [
      { tolerations: [{ value: "x" }] },
      'expected operator "Exists" of tolerations that have no key and so accept all taints, got "Equal"',
    ],
    [
      { tolerations: [{ key: "x", effect: "NoStart" }] },
      'expected effect of tolerations as "NoSchedule", "PreferNoSchedule" or "NoExecute", got "NoStart"',
    ],
    [
      { volumes: { data: { claim: "x" } } },
      'expected paths of volumes as an absolute path without "..", ":" and a slash at its end, got "data"',
    ],
    [
      { volumes: { "/tmp/x": { claim: "x" } } },
      'expected paths of volumes outside of /tmp, which Viceroy uses, got "/tmp/x"',
    ],
    [{ volumes: { "/data": {} } }, "expected one of claim, empty and configMap for volume /data, got an object"],
    [{ volumes: { "/data": { claim: "A B" } } }, "expected claim of volume /data as the name of an object"],
    [{ volumes: { "/data": { empty: "many" } } }, 'expected empty of volume /data as bytes or as text such as "512Mi"'],
    [{ secrets: ["Token"] }, "expected each of secrets as the name of an object"],
    [{ secrets: [{ name: "token", path: "x" }] }, "expected path of each of secrets as an absolute path"],
    [{ imageCache: {} }, "expected imageCache with one of node and claim, got an object"],
    [{ imageCache: { node: "cache" } }, "expected node of imageCache as an absolute path"],
    [{ sharedMemory: "x" }, "expected sharedMemory as bytes"],
    [{ idle: "soon" }, "expected idle as milliseconds"],
    [{ launchTimeout: "0s" }, 'cannot make a job: expected launchTimeout longer than 0, got "0s"'],
    [{ template: [] }, "expected template as a pod template, such as { spec: { … } }, got an array of 0"],
  ])("%j", (options, message) => {
    expect(() => new Compute(options as ComputeOptions)).toThrow(message);
  });

  test("is not changed by changes of what it was made of", () => {
    const nodeSelector = { disk: "ssd" };
    const compute = new Compute({ nodeSelector });
    nodeSelector.disk = "none";
    expect(compute.podTemplate().spec!.nodeSelector).toEqual({ disk: "ssd" });
  });
});
