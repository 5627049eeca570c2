/**
 * The batch script of a job: one step per mesh, which runs one host daemon on each of its nodes. If the meshes of one
 * allocation ask for different nodes, the job is heterogeneous: each mesh is a component of its own, and Slurm starts
 * all of them together.
 */
import { type ClientOrder, recordFileOf, recordVariable } from "../batch/client.js";
import { credentialsName, secretsFile } from "../credentials/credentials-folder.js";
import { issuerArguments } from "../issuer/issuer-order.js";
import type { TlsSpec } from "../job-options.js";
import { markVariable } from "../keeper/marked-processes.js";
import { quote } from "../quote.js";
import { clientCheck, clientRun, signalArgument } from "./batch-client.js";
import { hostCheck } from "./host-check.js";
import { firstIncarnation, incarnationsName, keysFolder } from "./host-loop.js";
import { warnedMark } from "./queue.js";
import { memoryMib, type SlurmMeshSpec, type SlurmSpec } from "./slurm-spec.js";

export interface BatchJob {
  /** The name of the job in Slurm's lists. */
  readonly name: string;
  readonly applyId: string;
  /** The comment, by which it is found. */
  readonly comment: string;
  /** The meshes of this job: all, or one. */
  readonly meshes: Readonly<Record<string, SlurmMeshSpec>>;
  /** The rank of the first host of each mesh: not 0 if the mesh has hosts of other jobs, too. */
  readonly first: number;
  /** The folder on the nodes for the output, and for the token or the credentials. */
  readonly folder: string;
  /** The program that signs certificates, on the nodes. */
  readonly issuer: string;
  /** The path of the command line of Viceroy on the nodes. */
  readonly commandLine: string;
  /** The path of Node.js on the nodes. */
  readonly node: string;
  /** The time in ms after which the hosts end without a driver. A command does not let them end. */
  readonly idle: number;
  /** Whether a host whose daemon was killed is started again. */
  readonly comesBack: boolean;
  /** The command that runs on the first node; absent if the hosts wait for drivers. */
  readonly client?: ClientOrder;
}

/** The text by which a job is recognized as one of ours. */
export function commentOf(applyId: string): string {
  return `viceroy:${applyId}`;
}

/**
 * The first port of hosts, and the number of ports: two for each job, of which the second one is that of the issuer.
 * Systems take the ports of clients from 32768 on.
 */
const firstPort = 20_000;
const portCount = 12_000;

/** Time in seconds before its time limit at which a job is warned. */
export const warnSeconds = 60;

/** Returns the port of the hosts of a job. Two jobs on one node have different ids, and so different ports. */
export function portOf(jobId: number): number {
  return firstPort + 2 * (jobId % (portCount / 2));
}

/** Returns whether all meshes ask for the same nodes. */
export function isUniform(meshes: Readonly<Record<string, SlurmMeshSpec>>): boolean {
  const [first, ...others] = Object.entries(meshes).map(([name, mesh]) => resourceArguments(name, mesh).join(" "));
  return others.every((other) => other === first);
}

/** Writes the script. */
export function batchScript(spec: SlurmSpec, job: BatchJob): string {
  const { meshes, name, applyId, comment, first, folder, client } = job;
  const uniform = isUniform(meshes);
  const entries = Object.entries(meshes);
  const common = [
    `--job-name=${name}`,
    `--comment=${/^[\w:-]+$/.test(comment) ? comment : JSON.stringify(comment)}`,
    `--output=${folder}/slurm-%j.log`,
    "--open-mode=append",
    "--ntasks-per-node=1",
    ...optional("--partition", spec.partition),
    ...optional("--account", spec.account),
    ...optional("--qos", spec.qos),
    ...optional("--constraint", spec.constraint),
    ...optional("--time", spec.timeLimit),
    client === undefined ? `--signal=B:USR1@${warnSeconds}` : signalArgument(spec.timeLimit),
    ...(spec.exclusive ? ["--exclusive"] : []),
  ];
  const components = uniform
    ? [[`--nodes=${sum(entries.map(([, { hosts }]) => hosts))}`, ...resourceArguments(...entries[0]!)]]
    : entries.map(([mesh, wanted]) => [`--nodes=${wanted.hosts}`, ...resourceArguments(mesh, wanted)]);
  const header = components
    .map((component) => [...common, ...component, ...spec.arguments].map((line) => `#SBATCH ${line}`).join("\n"))
    .join("\n#SBATCH hetjob\n");
  let offset = 0;
  const steps = entries.map(([mesh, { hosts }], index) => {
    const where = uniform ? `--relative=${offset}` : `--het-group=${index}`;
    offset += hosts;
    return `step ${mesh} ${where} --nodes=${hosts} --ntasks=${hosts}`;
  });
  return `#!/bin/bash
${header}
umask 077
export VICEROY_JOB_FIRST=${first} ${markVariable}=${applyId} ${recordVariable}=${quote(recordFileOf(folder))}
unset VICEROY_TOKEN
mkdir -p ${quote(`${folder}/${incarnationsName}`)}
${spec.setup ?? ""}
check=${quote(hostCheck)}
${client === undefined ? "" : clientCheck(client, folder)}port=${spec.port ?? `$((${firstPort} + 2 * (SLURM_JOB_ID % ${portCount / 2})))`}
${spec.tls === null ? "" : startIssuer(job, spec.tls)}step() {
  VICEROY_JOB_MESH=$1
  export VICEROY_JOB_MESH
  shift
  srun --kill-on-bad-exit=1 --label "$@" sh -c "$check" sh ${quote(folder)} ${hostCommand(spec, job)} \\
    > >(sed -u "s/^/$VICEROY_JOB_MESH /") 2>&1 &
}
${steps.join("\n")}
${client === undefined ? hostsRun(comment) : clientRun(client, folder)}`;
}

/** Returns the lines that wait for the end of the first step, which is the end of the job. */
function hostsRun(comment: string): string {
  return `# Slurm sends a signal before the time limit, or before it preempts the job. The comment tells the driver.
warn() {
  scontrol update JobId="$SLURM_JOB_ID" Comment=${quote(`${comment} ${warnedMark}`)}
  warned=1
}
trap warn USR1 USR2
# A job that Slurm starts again has not been warned.
[ -z "$SLURM_RESTART_COUNT" ] || scontrol update JobId="$SLURM_JOB_ID" Comment=${quote(comment)}
# One step that ends is the end of the job. A signal ends "wait", too.
warned=1
while [ -n "$warned" ]; do
  warned=
  wait -n
  status=$?
done
exit "$status"
`;
}

/**
 * Returns the lines that start the issuer on the first node, and start it again when it ends. It ends with its standard
 * input, which the script holds open. The keys of hosts are kept for each start of the job: when Slurm has requeued it,
 * its hosts are other ones.
 */
function startIssuer({ node, issuer, folder }: BatchJob, { lifetime }: TlsSpec): string {
  const order = issuerArguments({
    credentials: quote(`${folder}/${credentialsName}`),
    keys: keysFolder(quote(folder)),
    listen: '"tcp://0.0.0.0:$((port + 1))"',
    lifetime,
  });
  return `exec 3> >(until ${quote(node)} ${quote(issuer)} ${order.join(" ")} 2>&1; do sleep 1; done)
issuer="tcp://$SLURMD_NODENAME:$((port + 1))"
`;
}

/** Returns the arguments of the check (host-check.ts) after the folder, with the command that each node runs. */
function hostCommand({ tls }: SlurmSpec, job: BatchJob): string {
  const { node, commandLine, idle, applyId, folder, client } = job;
  const first = job.comesBack ? firstIncarnation : "''";
  const host = `${quote(node)} ${quote(commandLine)} host --print${client === undefined ? ` --idle ${idle}` : ""} --listen`;
  if (tls === null) return `${first} '' '' ${host} "tcp://0.0.0.0:$port" --token-file ${quote(`${folder}/token`)}`;
  const secrets = quote(`${folder}/${credentialsName}/${secretsFile}`);
  const key = encodeURIComponent(`viceroy://${applyId}/hosts/`);
  return `${first} "viceroy://${applyId}/hosts/$VICEROY_JOB_MESH/" \\
    ${keysFolder(quote(folder))}/"${key}$VICEROY_JOB_MESH%2F" \\
    ${host} "tls://0.0.0.0:$port" --issuer "$issuer" --secret-file ${secrets} 3>&-`;
}

function resourceArguments(name: string, { cpus, gpus, memory }: SlurmMeshSpec): string[] {
  return [
    ...optional("--cpus-per-task", cpus),
    ...optional("--gpus-per-node", gpus === 0 ? undefined : gpus),
    ...(memory === undefined ? [] : [`--mem=${memoryMib(name, memory)}M`]),
  ];
}

function optional(option: string, value: string | number | null | undefined): string[] {
  return value === null || value === undefined ? [] : [`${option}=${value}`];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
