/**
 * `SlurmJob`, on a real cluster of Slurm in network namespaces of this machine. The first table starts with the first line of
 * the batch script, so that the time in the queue does not count, and ends with the last of the first answers. A job is compared
 * with what a person would write: a batch script that runs `viceroy host` on each node, and a program that knows the nodes and the
 * port beforehand, and tries to attach the hosts all the time. The second table is a second run of a program.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { compare, repository, runInterleaved, runJson, startAnswering } from "../harness/index.js";
import { measureReattach } from "./reattach.js";

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const commandLine = path.join(repository, "dist/cli/viceroy.js");
const each = 2;
const byHand = "by hand";
const columns = [
  { metric: "answer", title: "ms until all actors have answered", ratio: true },
  { metric: "attach", title: "ms until all hosts are attached", ratio: true },
];

export async function measure({ options, workDir }) {
  const hosts = options.quick ? 2 : 4;
  const lab = await startAnswering([process.execPath, "--import", "tsx", here("slurm-lab.ts"), String(hosts)]);
  if (lab.first.missing !== undefined) {
    process.stderr.write(`left out: jobs on Slurm need ${lab.first.missing}\n`);
    await lab.stop();
    return [];
  }
  try {
    const cluster = { ...lab.first, hosts, workDir, nodes: Array.from({ length: hosts }, (_, rank) => `n${rank + 1}`) };
    const title = `SlurmJob: ${hosts} nodes, ${hosts * each} actors`;
    const subjects = [
      { name: byHand, run: (round) => startByHand(cluster, round) },
      { name: "SlurmJob", run: (round) => startJob(cluster, round) },
    ];
    const samples = await runInterleaved(subjects, options);
    const table = compare(samples, { reference: byHand, columns, subject: "started" });
    const job = JSON.stringify({ meshes: { workers: { hosts } }, cache: path.join(workDir, "slurm.json") });
    const run = (how) => drive(cluster, "driver.js", "slurm", job, String(each), how);
    const again = `SlurmJob, used again: ${hosts} nodes, ${hosts * each} actors`;
    return [{ title, samples, table }, await measureReattach(again, run, options)];
  } finally {
    await lab.stop();
  }
}

/** Runs a program on the login machine. */
function drive({ through, env }, program, ...args) {
  return runJson([...through, process.execPath, here(program), ...args], { env, cwd: repository });
}

async function startJob(cluster, round) {
  const begin = path.join(cluster.workDir, `job-${round}`);
  const cache = path.join(cluster.workDir, `job-${round}.json`);
  const setup = `date +%s%N > ${begin}`;
  const job = JSON.stringify({ meshes: { workers: { hosts: cluster.hosts } }, cache, setup });
  return sinceBegin(begin, await drive(cluster, "driver.js", "slurm", job, String(each), "kill"));
}

async function startByHand(cluster, round) {
  const { through, env, workDir, hosts, nodes } = cluster;
  const file = (name) => path.join(workDir, `${name}-${round}`);
  const slurm = (...command) =>
    execFileSync(through[0], [...through.slice(1), ...command], {
      env: { ...process.env, ...env },
      encoding: "utf8",
    }).trim();
  const port = 19_000 + round;
  writeFileSync(file("token"), "a".repeat(32), { mode: 0o600 });
  const script = `#!/bin/bash
date +%s%N > ${file("hand")}
srun ${process.execPath} ${commandLine} host --listen tcp://0.0.0.0:${port} --token-file ${file("token")}
`;
  writeFileSync(file("script"), script);
  const addresses = nodes.map((node) => `tcp://${node}:${port}`);
  const program = drive(cluster, "by-hand.js", JSON.stringify(addresses), file("token"), String(each));
  const id = slurm("sbatch", "--parsable", `--nodes=${hosts}`, "--exclusive", "--output=/dev/null", file("script"));
  try {
    return sinceBegin(file("hand"), await program);
  } finally {
    slurm("scancel", id);
    while (slurm("squeue", "--noheader", "--format=%i") !== "")
      await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** @param begin the file to which the batch script writes the time of its first line */
function sinceBegin(begin, { attached, answered }) {
  const start = Number(readFileSync(begin, "utf8")) / 1e6;
  return { answer: answered - start, attach: attached - start };
}
