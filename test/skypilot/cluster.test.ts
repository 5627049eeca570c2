/**
 * Tests of the client of SkyPilot on machines: two pods of a real Kubernetes cluster with `npm run test:skypilot -- --cluster`, and a stand-in
 * otherwise.
 */
import { expect, test } from "vitest";
import type { LogLine } from "../../runtime/job/skypilot/api/log-line.js";
import { failure } from "./lab/failure.js";
import { clusterImage, openClusterLab } from "./lab/skypilot-lab.js";

const task = `name: crew
num_nodes: 2
resources:
  infra: kubernetes
  cpus: 0.5
  memory: 1
  image_id: docker:${clusterImage}
run: |
  echo "host $SKYPILOT_NODE_RANK of $SKYPILOT_NUM_NODES"
  sleep 1000
`;

test("a cluster is launched, tells what its hosts print, and is gone after its end", async () => {
  const api = await (await openClusterLab("cluster")).open();
  const lines: LogLine[] = [];
  const id = await api.launch({ cluster: "crew", task, retryUntilUp: false });
  await api.requests.follow(id, 'launch cluster "crew"', { onLine: (line) => lines.push(line) });
  expect(lines).toContainEqual({ kind: "text", text: "└── Pods are up." });
  expect(await api.cluster("crew", false)).toMatchObject({
    status: "UP",
    nodes: 2,
    cloud: "Kubernetes",
    autostop: undefined,
  });
  const printed: string[] = [];
  for await (const { text } of api.jobLog("crew", true)) {
    if (/host \d of 2$/.test(text)) printed.push(text.replace(/pid=\d+/, "pid=1").replace(/ip=[\d.]+/, "ip=1"));
    if (printed.length === 2) break;
  }
  expect(printed.sort()).toEqual(["(head, rank=0, pid=1) host 0 of 2", "(worker1, rank=1, pid=1, ip=1) host 1 of 2"]);
  expect(await api.jobs("crew")).toEqual([{ id: 1, name: "crew", status: "RUNNING" }]);
  await api.autostop("crew", 30, true);
  expect(await api.cluster("crew", false)).toMatchObject({ autostop: 30, autodown: true });
  expect((await failure(api.stop("crew"))).kind).toBe("NotSupportedError");
  await api.down("crew");
  expect(await api.cluster("crew", true)).toBeUndefined();
});

test("a launch that is interrupted leaves nothing after its cluster was taken down", async () => {
  const api = await (await openClusterLab("interrupted")).open();
  const id = await api.launch({ cluster: "crew", task, retryUntilUp: true });
  const begun = new AbortController();
  const onLine = ({ text }: LogLine) => {
    if (text.startsWith("Preparing SkyPilot runtime")) begun.abort(new Error("enough"));
  };
  await expect(api.requests.follow(id, "launch", { onLine, signal: begun.signal })).rejects.toThrow("enough");
  await api.requests.cancel((await api.requests.openOf("crew")).map((request) => request.id));
  // The cancelled request has not taken back what it has made.
  expect(await api.cluster("crew", false)).toMatchObject({ status: "INIT" });
  await api.down("crew");
  expect(await api.cluster("crew", true)).toBeUndefined();
});

test("a task for which there are no machines fails in SkyPilot's words", async () => {
  const api = await (await openClusterLab("no-machines")).open();
  const large = "name: large\nnum_nodes: 2\nresources:\n  infra: kubernetes\n  cpus: 64+\nrun: echo hello\n";
  const id = await api.launch({ cluster: "large", task: large, retryUntilUp: false });
  expect((await failure(api.requests.follow(id, 'launch cluster "large"'))).message).toContain(
    'cannot launch cluster "large": SkyPilot says: Kubernetes cluster does not contain any instances satisfying the request: 2x Kubernetes(cpus=64+).\n' +
      "To fix: relax or change the resource requirements.",
  );
  expect(await api.cluster("large", false)).toBeUndefined();
});
