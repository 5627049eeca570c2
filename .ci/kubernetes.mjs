/**
 * `npm run test:kubernetes`: runs those tests of `test/kubernetes` that use a Kubernetes, on a real cluster of two nodes, and before that installs all
 * that the cluster needs. With `--control-plane`, they run on a real control plane with stand-ins of the kubelet, which need
 * no root; with `--stand-in`, on a stand-in of both, which needs no programs. `--prepare` installs only. `--beside`
 * starts fewer control planes, for a run beside other tests. Other arguments are passed to vitest.
 */
import { spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { clusterPrograms, prepareCluster } from "./kubernetes/cluster-programs.mjs";
import { buildPrograms, programsFolder } from "./kubernetes/programs.mjs";
import { testFiles } from "./kubernetes/test-files.mjs";
import { root } from "./steps.mjs";
import { printEnd, runUntilSteady } from "./tests.mjs";

const options = ["--prepare", "--control-plane", "--stand-in", "--beside"];
const wanted = process.argv.slice(2);
const has = (option) => wanted.includes(option);
const rest = wanted.filter((argument) => !options.includes(argument));

async function prepare(backend) {
  if (backend === "stand-in") return 0;
  return (await buildPrograms()) || (backend === "cluster" ? prepareCluster() : 0);
}

/** Starts the process that holds the Kubernetes. It takes everything down when its standard input ends, so also if this process is killed. */
async function startLab(backend) {
  const args = ["--import", "tsx", "test/kubernetes/lab/main.ts", backend, programsFolder()];
  const env = { ...process.env, VICEROY_KUBERNETES_PROGRAMS: clusterPrograms() };
  // A session of its own: Ctrl-C ends this process, and the other one afterwards, in order.
  const lab = spawn(process.execPath, args, { cwd: root, env, detached: true, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => lab.once("exit", resolve));
  const stop = async () => {
    lab.stdin.end();
    // What is left behind disturbs later runs, so it is an error.
    if ((await ended) !== 0) process.exitCode = 1;
  };
  const lines = createInterface(lab.stdout);
  const first = await Promise.race([
    ended.then(() => undefined),
    new Promise((resolve) => lines.once("line", resolve)),
  ]);
  if (first === undefined)
    throw new Error(`cannot start Kubernetes (${backend}): the process ended, and said why above`);
  return { stop, ...JSON.parse(first) };
}

/** How many control planes share the test files. Most of the time of these tests is waiting, and two files can't restart the same API server. */
const controlPlanes = has("--beside") ? 2 : 3;

async function testOn(backend) {
  if (backend === "stand-in") return test({ VICEROY_KUBERNETES_BACKEND: backend });
  const begin = performance.now();
  const count = backend === "control-plane" ? controlPlanes : 1;
  const starts = await Promise.allSettled(Array.from({ length: count }, () => startLab(backend)));
  const labs = starts.flatMap(({ value }) => value ?? []);
  const stop = () => Promise.all(labs.map((lab) => lab.stop()));
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void stop().then(() => process.exit(130)));
  try {
    for (const { reason } of starts) if (reason !== undefined) throw reason;
    const seconds = ((performance.now() - begin) / 1000).toFixed(1);
    console.log(`Kubernetes: started ${count} x ${backend} in ${seconds} s`);
    const descriptions = labs.map(({ description }) => description).join(path.delimiter);
    await test(
      // The option of Vitest with the number of its processes does not reach the projects of its configuration; the variable does.
      { VICEROY_KUBERNETES_BACKEND: backend, VICEROY_KUBERNETES: descriptions, VITEST_MAX_WORKERS: String(count) },
      labs[0].through,
    );
  } finally {
    await stop();
  }
}

async function test(env, through = []) {
  Object.assign(process.env, env);
  const files = rest.some((argument) => argument.startsWith("test/")) ? rest : [...testFiles(), ...rest];
  const { code, passed, failed, failures, unsteady } = await runUntilSteady(files, { through });
  printEnd(passed, failed, failures, unsteady);
  process.exitCode = code;
}

const backend = ["stand-in", "control-plane"].find((name) => has(`--${name}`)) ?? "cluster";
console.log(`Kubernetes: ${backend}`);
process.exitCode = await prepare(backend);
if (process.exitCode === 0 && !has("--prepare")) await testOn(backend);
