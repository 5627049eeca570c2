/** Tests of templates of users, which are merged into those of jobs. */
import { describe, expect, test } from "vitest";
import type { PodTemplate } from "../../../runtime/job/kubernetes/manifest/objects.js";
import { templateOf } from "./example-job.js";

const own = templateOf({ image: "node:22" });

describe("a template of the user is merged as kubectl does", () => {
  const merge = (template: PodTemplate) => templateOf({ image: "node:22", template });

  test("fields that only one has are kept, and those of both are the user's", () => {
    const merged = merge({ spec: { serviceAccountName: "trainer", securityContext: { runAsUser: 2000 } } });
    expect(merged.spec).toMatchObject({
      serviceAccountName: "trainer",
      securityContext: { runAsUser: 2000, runAsGroup: 1000, runAsNonRoot: true },
    });
  });

  test("containers, variables, volumes and mounts are merged by their keys", () => {
    const merged = merge({
      spec: {
        containers: [
          {
            name: "host",
            env: [
              { name: "HOME", value: "/data" },
              { name: "MODE", value: "fast" },
            ],
            volumeMounts: [{ name: "extra", mountPath: "/extra" }],
          },
          { name: "side", image: "busybox" },
        ],
        volumes: [{ name: "extra", emptyDir: {} }],
        tolerations: [{ key: "gpu", operator: "Exists" }],
      },
    });
    const [host, side] = merged.spec.containers!;
    expect(side).toEqual({ name: "side", image: "busybox" });
    expect(host!.env).toHaveLength(own.spec.containers![0]!.env!.length + 1);
    expect(host!.env).toContainEqual({ name: "HOME", value: "/data" });
    expect(host!.volumeMounts!.at(-1)).toEqual({ name: "extra", mountPath: "/extra" });
    expect(merged.spec.volumes!.map(({ name }) => name)).toEqual(["store", "tmp", "program", "secret", "extra"]);
  });

  test("null removes a field, and other lists are replaced", () => {
    const merged = merge({
      spec: {
        enableServiceLinks: null,
        containers: [{ name: "host", securityContext: { capabilities: { drop: ["NET_RAW"] } } }],
      },
    });
    expect(merged.spec).not.toHaveProperty("enableServiceLinks");
    expect(merged.spec.containers![0]).toMatchObject({ securityContext: { capabilities: { drop: ["NET_RAW"] } } });
  });

  test("an empty template changes nothing", () => {
    expect(merge({})).toEqual(own);
  });

  test("the size of the store and the patience of probes can be set", () => {
    const merged = merge({
      spec: {
        containers: [{ name: "host", startupProbe: { failureThreshold: 600 } }],
        volumes: [{ name: "store", emptyDir: { sizeLimit: "50Gi" } }],
      },
    });
    expect(merged.spec.containers![0]).toMatchObject({ startupProbe: { failureThreshold: 600, periodSeconds: 1 } });
    expect(merged.spec.volumes).toContainEqual({ name: "store", emptyDir: { sizeLimit: "50Gi" } });
  });
});

test("another container with a port of the host is refused, because the containers of a pod share their ports", () => {
  const side = (list: string, containerPort: number) =>
    ({ spec: { [list]: [{ name: "side", image: "busybox", ports: [{ containerPort }] }] } }) as PodTemplate;
  const refused = (port: number) =>
    `cannot make a job: the template of mesh "trainers" gives container "side" the port ${port}, at which the host listens; give it another port`;
  expect(() => templateOf({ template: side("containers", 26_600) })).toThrow(refused(26_600));
  expect(() => templateOf({ template: side("initContainers", 26_601) })).toThrow(refused(26_601));
  expect(templateOf({ template: side("containers", 8080) }).spec.containers).toHaveLength(2);
});

describe("a template that removes or changes what the job needs is refused with the path", () => {
  const host = (fields: object) => ({ spec: { containers: [{ name: "host", ...fields }] } });
  const use = "by which the daemon of the host starts";

  test.each<[object, string]>([
    [
      { spec: { containers: null } },
      `removes spec.containers[host], ${use}; it removes spec.containers[host].command, ${use}`,
    ],
    [
      host({ command: ["sleep", "1"] }),
      `changes spec.containers[host].command, ${use}; leave this field out of the template`,
    ],
    [host({ args: ["x"] }), `changes spec.containers[host].args, ${use}; leave this field`],
    [host({ startupProbe: null }), `removes spec.containers[host].startupProbe, ${use}`],
    [host({ readinessProbe: { tcpSocket: { port: 1 } } }), `changes spec.containers[host].readinessProbe, ${use}`],
    [host({ ports: null }), `removes spec.containers[host].ports, ${use}`],
    [
      host({ env: [{ name: "VICEROY_JOB_RANK", value: "0" }] }),
      `changes spec.containers[host].env[VICEROY_JOB_RANK], ${use}`,
    ],
    [host({ volumeMounts: null }), `removes spec.containers[host].volumeMounts[/viceroy/app], ${use}`],
    [{ spec: { volumes: null } }, "removes spec.volumes[store], which the daemon reads or writes; it removes"],
    [
      { spec: { volumes: [{ name: "program", emptyDir: {} }] } },
      "changes spec.volumes[program], which the daemon reads",
    ],
    [{ spec: { restartPolicy: "Always" } }, "changes spec.restartPolicy, so that a failed pod is replaced"],
    [
      { metadata: { labels: { "viceroy/mesh": "x" } } },
      'changes metadata.labels["viceroy/mesh"], by which the job finds its pods',
    ],
    [{ metadata: null }, 'removes metadata.labels["viceroy/job"], by which the job finds its pods'],
  ])("%j", (template, message) => {
    expect(() => templateOf({ template: template as PodTemplate })).toThrow(
      `cannot make a job: the template of mesh "trainers" ${message}`,
    );
  });

  test("the container that applies the steps of an image is needed if there are steps", () => {
    const template = { spec: { initContainers: null } } as unknown as PodTemplate;
    expect(templateOf({ template }).spec).not.toHaveProperty("initContainers");
    expect(() =>
      templateOf({ template, image: { from: "node:22", steps: [{ kind: "run", command: "true" }] } as never }),
    ).toThrow("removes spec.initContainers[image], by which the steps of the image are applied");
  });
});
