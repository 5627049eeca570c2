/**
 * The program of `viceroy doctor --ssh`. Its argument is JSON: the hosts, and the module of a job whose options are used.
 * It exits with 1 if a job could not run on a host.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorMessage } from "../../../../shared/text/error-message.js";
import { loadJob } from "../../command/load-job.js";
import { providerOfJob } from "../../job.js";
import { checkSshMeshes, machinesOf, type SshSpec } from "../ssh-spec.js";
import { examine } from "./examine.js";
import { reportLines } from "./report.js";

interface Request {
  /** The hosts; empty for those of the job. */
  readonly hosts: readonly string[];
  /** The module of the job, and the name of its export. */
  readonly job?: string;
  readonly export: string;
  readonly json: boolean;
}

/** The exit codes of the command line: a problem, and what the user must change. */
const problemCode = 1;
const usageCode = 3;

const noJob: SshSpec = { meshes: {}, sshOptions: [], port: null, tls: null, setup: null, node: null };

async function specOf({ job: file, export: name }: Request): Promise<SshSpec> {
  if (file === undefined) return noJob;
  const { kind, spec } = providerOfJob(await loadJob(file, name));
  if (kind === "ssh") return spec as SshSpec;
  throw new Error(`cannot check the hosts of ${file}: its job is not an SSHJob; name hosts with --ssh`);
}

/** Returns the nearest folder with a package.json. */
function packageFolder(): string {
  let folder = process.cwd();
  while (!existsSync(join(folder, "package.json")) && folder !== dirname(folder)) folder = dirname(folder);
  return existsSync(join(folder, "package.json")) ? folder : process.cwd();
}

async function doctor(request: Request): Promise<number> {
  const { meshes, ...options } = await specOf(request);
  const hosts = request.hosts.length > 0 ? request.hosts : Object.values(meshes).flatMap(machinesOf);
  checkSshMeshes({ hosts: { hosts } });
  const findings = await examine({ ...options, hosts, folder: packageFolder() });
  for (const line of reportLines(hosts, findings, request.json)) process.stdout.write(`${line}\n`);
  return findings.some(({ level }) => level === "problem") ? problemCode : 0;
}

process.exitCode = await doctor(JSON.parse(process.argv[2]!) as Request).catch((error) => {
  process.stderr.write(`${errorMessage(error)}\n`);
  return usageCode;
});
