/**
 * `npm run test:skypilot`: runs those tests of `test/skypilot` that use an API server on the real one of SkyPilot, which is installed from PyPI
 * into the user's cache before that. With `--cluster`, it runs those that launch machines, on an API server that uses a real Kubernetes cluster of two
 * nodes; it needs root and Go. With `--record`, the tests also write down the answers with which their stand-in answers without SkyPilot. `--prepare` installs
 * only. Other arguments are passed to vitest.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { clusterPrograms, prepareCluster } from "./kubernetes/cluster-programs.mjs";
import { buildPrograms, programsFolder } from "./kubernetes/programs.mjs";
import { machineImage, prepareMachines, skypilotPrograms } from "./skypilot/cluster.mjs";
import { install, pythonOf } from "./skypilot/install.mjs";
import { root } from "./steps.mjs";
import { printEnd, runTests } from "./tests.mjs";

const options = ["--prepare", "--record", "--cluster"];
const wanted = process.argv.slice(2);
const has = (option) => wanted.includes(option);
const rest = wanted.filter((argument) => !options.includes(argument));

async function prepare() {
  const code = await install();
  if (code !== 0 || !has("--cluster")) return code;
  return (await buildPrograms()) || prepareCluster() || (await prepareMachines());
}

/** Starts the process that holds the API server and the cluster. It takes everything down when its standard input ends. */
async function startLab() {
  const args = [programsFolder(), pythonOf(), machineImage(), skypilotPrograms()];
  const lab = spawn(process.execPath, ["--import", "tsx", "test/skypilot/lab/main.ts", ...args], {
    cwd: root,
    env: { ...process.env, VICEROY_KUBERNETES_PROGRAMS: clusterPrograms() },
    // A session of its own: Ctrl-C ends this process, and the other one afterwards, in order.
    detached: true,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => lab.once("exit", resolve));
  const stop = async () => {
    lab.stdin.end();
    // What is left behind disturbs later runs, so it is an error.
    if ((await ended) !== 0) process.exitCode = 1;
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void stop().then(() => process.exit(130)));
  const lines = createInterface(lab.stdout);
  const first = await Promise.race([ended.then(() => ""), new Promise((resolve) => lines.once("line", resolve))]);
  if (first === "") throw new Error("cannot start SkyPilot with a cluster: the process ended, and said why above");
  return { stop, ...JSON.parse(first) };
}

async function test(files, env, through = []) {
  if (has("--record")) process.env.VICEROY_SKYPILOT_RECORD = "yes";
  Object.assign(process.env, env);
  const { passed, failed, failures, code } = await runTests([...files, ...rest], { through });
  printEnd(passed, failed, failures);
  process.exitCode = code;
}

process.exitCode = await prepare();
if (process.exitCode === 0 && !has("--prepare")) {
  if (has("--cluster")) {
    const lab = await startLab();
    try {
      const env = {
        VICEROY_SKYPILOT_URL: lab.url,
        VICEROY_SKYPILOT_KUBECTL: JSON.stringify(lab.kubectl),
        VICEROY_SKYPILOT_CLIENT: pythonOf(),
      };
      const files = rest.some((argument) => argument.startsWith("test/"))
        ? []
        : ["test/skypilot/cluster.test.ts", "test/skypilot/cluster-job.test.ts"];
      await test(files, env, lab.through);
    } finally {
      await lab.stop();
    }
  } else await test(["test/skypilot/api.test.ts"], { VICEROY_SKYPILOT_PYTHON: pythonOf() });
}
