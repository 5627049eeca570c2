/**
 * `KubernetesJob`, on a real cluster of two nodes in network namespaces of this machine. The first table compares a job with what a person
 * would do: `kubectl apply` of a Job whose pods have Viceroy and the program from a folder of the node, `kubectl wait` until they are
 * ready, and a program that attaches them. The second one compares a pod of a job that replaces a deleted one with a pod that is made
 * by itself.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { clusterPrograms } from "../../.ci/kubernetes/cluster-programs.mjs";
import { programsFolder } from "../../.ci/kubernetes/programs.mjs";
import { compare, repository, runInterleaved, runJson, startAnswering } from "../harness/index.js";
import { copyProgram } from "../viceroy/prepare.js";

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const hosts = 4;
const each = 2;
const byHand = "by hand";
const bare = "pod by itself";
/** The token of the hosts of a person. */
const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "token" }, stringData: { token: "a".repeat(32) } };

export async function measure({ options, workDir }) {
  if (process.getuid?.() !== 0 || !existsSync(programsFolder()) || !existsSync(clusterPrograms())) {
    process.stderr.write(
      "left out: jobs on Kubernetes need root, and the programs of Kubernetes (npm run test:kubernetes -- --prepare)\n",
    );
    return [];
  }
  process.env.VICEROY_KUBERNETES_PROGRAMS = clusterPrograms();
  const main = path.join(repository, "test/kubernetes/lab/main.ts");
  const lab = await startAnswering([process.execPath, "--import", "tsx", main, "cluster", programsFolder()]);
  try {
    const cluster = makeCluster(lab.first, workDir);
    const started = await runInterleaved(
      [
        { name: byHand, run: () => startByHand(cluster) },
        { name: "KubernetesJob", run: (round) => startJob(cluster, round) },
      ],
      options,
    );
    const replaced = await runInterleaved(
      [
        { name: bare, run: (round) => startPod(cluster, round) },
        { name: "KubernetesJob", run: (round) => replacePod(cluster, round) },
      ],
      options,
    );
    return [
      {
        title: `KubernetesJob: ${hosts} pods, ${hosts * each} actors`,
        samples: started,
        table: compare(started, {
          reference: byHand,
          subject: "started",
          columns: [{ metric: "answer", title: "ms until all actors have answered", ratio: true }],
        }),
      },
      {
        title: "KubernetesJob: a pod that was deleted",
        samples: replaced,
        table: compare(replaced, {
          reference: bare,
          subject: "new pod",
          columns: [
            { metric: "up", title: "ms from the end of the old one, or the request", ratio: true },
            { metric: "ready", title: "ms from its making until it is Ready", ratio: true },
            { metric: "answer", title: "ms from its making until it answers, or is Ready", ratio: true },
          ],
        }),
      },
    ];
  } finally {
    await lab.stop();
  }
}

function makeCluster({ description, through }, workDir) {
  const { kubeconfig, kubectl: kubectlFile, nodeImage } = JSON.parse(readFileSync(description, "utf8"));
  const [enter, ...entering] = through;
  const kubectl = (...args) =>
    execFileSync(enter, [...entering, kubectlFile, "--kubeconfig", kubeconfig, ...args], { encoding: "utf8" }).trim();
  const namespace = "bench";
  kubectl("create", "namespace", namespace);
  const program = path.join(workDir, "program");
  copyProgram(program);
  const drive = (file, ...args) =>
    runJson([...through, process.execPath, here(file), ...args], {
      cwd: program,
      env: { VICEROY_BENCH_PROGRAM: program },
    });
  return {
    kubeconfig,
    nodeImage,
    namespace,
    workDir,
    program,
    drive,
    kubectl: (...args) => kubectl("-n", namespace, ...args),
  };
}

/** Returns the options of a job as JSON. */
function jobOptions({ namespace, kubeconfig, nodeImage: image, workDir }, name, count) {
  const cache = path.join(workDir, `${name}.json`);
  return JSON.stringify({ name, namespace, kubeconfig, meshes: { workers: { hosts: count, image } }, cache });
}

async function startJob(cluster, round) {
  const { asked, answered } = await cluster.drive(
    "driver.js",
    "kubernetes",
    jobOptions(cluster, `job-${round}`, hosts),
    String(each),
    "kill",
  );
  return { answer: answered - asked };
}

async function startByHand(cluster) {
  const { kubectl, workDir, drive } = cluster;
  const file = (name) => path.join(workDir, name);
  writeFileSync(file("token"), secret.stringData.token, { mode: 0o600 });
  const job = {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "by-hand" },
    spec: {
      completionMode: "Indexed",
      completions: hosts,
      parallelism: hosts,
      template: { metadata: { labels: { by: "hand" } }, spec: podSpec(cluster) },
    },
  };
  writeFileSync(file("by-hand.json"), JSON.stringify({ apiVersion: "v1", kind: "List", items: [secret, job] }));
  const begin = Date.now();
  kubectl("apply", "-f", file("by-hand.json"));
  // `kubectl wait` ends at once if there is no pod yet.
  while (kubectl("get", "pods", "-l", "by=hand", "-o", "name").split("\n").length < hosts);
  kubectl("wait", "pod", "-l", "by=hand", "--for=condition=Ready", "--timeout=120s");
  const ready = Date.now();
  const ips = kubectl("get", "pods", "-l", "by=hand", "-o", "jsonpath={.items[*].status.podIP}").split(" ");
  const addresses = JSON.stringify(ips.map((ip) => `tcp://${ip}:26600`));
  const { asked, answered } = await drive("by-hand.js", addresses, file("token"), String(each));
  kubectl("delete", "-f", file("by-hand.json"), "--cascade=foreground", "--grace-period=1");
  return { answer: ready - begin + answered - asked };
}

async function startPod(cluster, round) {
  const { kubectl, drive, kubeconfig, namespace, workDir } = cluster;
  const file = path.join(workDir, "token.json");
  writeFileSync(file, JSON.stringify(secret));
  kubectl("apply", "-f", file);
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: `pod-${round}` }, spec: podSpec(cluster) };
  const { asked, created, ready } = await drive("bare-pod.js", kubeconfig, namespace, JSON.stringify(pod));
  return { up: ready - asked, ready: ready - created, answer: ready - created };
}

async function replacePod(cluster, round) {
  const { gone, created, ready, answered } = await cluster.drive(
    "replaced.js",
    jobOptions(cluster, `lost-${round}`, 1),
  );
  return { up: answered - gone, ready: ready - created, answer: answered - created };
}

/** Returns what the pods of a person are: they run Viceroy from this repository, which is a folder of their node. */
function podSpec({ nodeImage, program }) {
  const cli = path.join(repository, "dist/cli/viceroy.js");
  const probe = (periodSeconds) => ({ tcpSocket: { port: 26_600 }, periodSeconds });
  return {
    restartPolicy: "Never",
    containers: [
      {
        name: "host",
        image: nodeImage,
        command: ["node", cli, "host", "--listen", "tcp://$(POD_IP):26600", "--token-file", "/secret/token"],
        workingDir: program,
        env: [{ name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } }],
        startupProbe: { ...probe(1), failureThreshold: 120 },
        readinessProbe: probe(10),
        volumeMounts: [
          { name: "repository", mountPath: repository.replace(/\/$/, ""), readOnly: true },
          { name: "program", mountPath: program, readOnly: true },
          { name: "token", mountPath: "/secret" },
        ],
      },
    ],
    volumes: [
      { name: "repository", hostPath: { path: repository.replace(/\/$/, "") } },
      { name: "program", hostPath: { path: program } },
      { name: "token", secret: { secretName: "token", defaultMode: 0o600 } },
    ],
  };
}
