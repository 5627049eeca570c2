/** Tests of how the end of a command is read from its pod, and of jobs that can run none. */
import { expect, test } from "vitest";
import type { ApiObject } from "../../../runtime/job/kubernetes/api/kubernetes-api.js";
import { checkCommand } from "../../../runtime/job/kubernetes/batch/check-command.js";
import { commandOutcome, commandStart } from "../../../runtime/job/kubernetes/batch/command-end.js";
import { CommandWatch } from "../../../runtime/job/kubernetes/batch/command-watch.js";
import { checkKubernetesJob } from "../../../runtime/job/kubernetes/kubernetes-spec.js";
import { objectsOf } from "../manifest/example-job.js";

const at = "2026-11-27T10:00:00Z";

function podWith(state: object, further: object = {}): ApiObject[] {
  return [
    { metadata: { name: "p" }, status: { phase: "Failed", containerStatuses: [{ name: "host", state }], ...further } },
  ];
}

const ended = (exitCode: number, further: object = {}) => ({
  terminated: { exitCode, startedAt: at, finishedAt: at, ...further },
});

test.each<[string, ApiObject[], object | undefined]>([
  ["runs", podWith({ running: { startedAt: at } }), undefined],
  ["has no pod any more", [], undefined],
  [
    "has ended with a code",
    podWith(ended(3, { message: "viceroy job: I am a program\n" })),
    { exitCode: 3, endedAt: Date.parse(at) },
  ],
  [
    "could not be started",
    podWith(ended(127, { message: 'a line\nviceroy job: its command "x" could not be started: ENOENT\n' })),
    { exitCode: 127, endedAt: Date.parse(at), error: 'its command "x" could not be started: ENOENT' },
  ],
  [
    "has used too much memory",
    podWith(ended(137, { reason: "OOMKilled" })),
    {
      exitCode: 137,
      endedAt: Date.parse(at),
      scheduler: 'container "host" has used more memory than its limit and was killed (OOMKilled)',
    },
  ],
  [
    "was ended with its pod by the node",
    podWith(ended(137), { reason: "Evicted", message: "low on memory" }),
    undefined,
  ],
])("a command that %s", (_what, pods, outcome) => {
  expect(commandOutcome(pods)).toEqual(outcome);
});

test("the start of a command is that of its container", () => {
  expect(commandStart(podWith(ended(0)))).toBe(Date.parse(at));
  expect(commandStart(podWith({ waiting: { reason: "ContainerCreating" } }))).toBe(undefined);
});

test("the reason of an end contains what was seen of the pod", () => {
  const watch = new CommandWatch();
  expect(watch.explain("Job x was deleted")).toBe("Job x was deleted");
});

test.each([
  [
    { w: { hosts: 1, selector: "app=x" } },
    'the pods of mesh "w" are there already, and only a job that makes its pods runs a command; start the program in a pod that ' +
      'has the Role that "viceroy job rbac" prints, and call job.state() there',
  ],
  [
    { command: { hosts: 1 } },
    'its mesh "command" has the name that the pod of the command needs; give the mesh another name',
  ],
])("a job with the meshes %j runs no command", (meshes, message) => {
  const { spec } = checkKubernetesJob({ namespace: "team", meshes } as never);
  expect(() => checkCommand(spec)).toThrow(message);
});

test("the pod of a command is a driver of the job, and has what the first mesh has without its resources", () => {
  const options = {
    namespace: "team",
    meshes: { w: { hosts: 2, cpus: 4, memory: "1GiB", gpus: 1, image: "node:22" } },
  };
  const { spec } = checkKubernetesJob(options);
  expect(spec.commandPod).toBe(null);
  const { owned } = objectsOf(options, true);
  const { spec: job } = owned.find(({ metadata }) => metadata.name === "viceroy-command") as never as {
    readonly spec: { readonly template: { readonly metadata: { readonly labels: object }; readonly spec: object } };
  };
  expect(job).toMatchObject({ completions: 1, backoffLimitPerIndex: 0 });
  expect(job.template.metadata.labels).toMatchObject({ "viceroy/driver": "viceroy" });
  expect(job.template.spec).toMatchObject({
    serviceAccountName: "viceroy-command",
    automountServiceAccountToken: true,
    containers: [{ image: "node:22", command: ["node", "/viceroy/program/holder.cjs"] }],
  });
  expect(JSON.stringify(job)).not.toContain("nvidia.com/gpu");
});
