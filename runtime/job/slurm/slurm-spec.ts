/** What a job of Slurm asks for, and its checks. */
import { optionError } from "../check-option.js";
import type { TlsSpec } from "../job-options.js";
import { checkHostCount, checkMeshes, type MeshSpec, memoryBytes } from "../mesh-spec.js";

/** What a job of Slurm asks for. It is plain JSON: a record contains it. */
export type SlurmSpec = {
  readonly meshes: Readonly<Record<string, SlurmMeshSpec>>;
  readonly allocation: "one" | "each";
  readonly partition: string | null;
  readonly account: string | null;
  readonly qos: string | null;
  readonly constraint: string | null;
  readonly exclusive: boolean;
  /** The time limit in minutes; null for that of the partition. */
  readonly timeLimit: number | null;
  /** Further arguments of `sbatch`. */
  readonly arguments: readonly string[];
  /** The machine on which the commands of Slurm run, as `ssh` knows it; null for this machine. */
  readonly login: string | null;
  /** The port of the hosts; null for one that follows from the id of the job. */
  readonly port: number | null;
  readonly tls: TlsSpec | null;
  readonly setup: string | null;
  readonly node: string | null;
};

/** The hosts of one mesh. */
export type SlurmMeshSpec = {
  readonly hosts: number;
  readonly cpus?: number;
  readonly gpus?: number;
  readonly memory?: number | string;
};

/** Checks the meshes of a job of Slurm. @throws TypeError, RangeError */
export function checkSlurmMeshes(meshes: unknown): void {
  checkMeshes(meshes, ["hosts", "cpus", "gpus", "memory"]);
  for (const [name, { hosts }] of Object.entries(meshes as Record<string, MeshSpec>)) checkHostCount(name, hosts);
}

/**
 * Checks text that becomes an argument of `sbatch`: a line break would start a new line of the script.
 * @throws TypeError
 */
export function checkArgument(option: string, value: unknown): void {
  if (typeof value === "string" && value !== "" && !/[\n\r\0]/.test(value)) return;
  throw optionError(`${option} as text on one line`, value);
}

/** Returns the memory of each host in MiB, which is the unit of Slurm. */
export function memoryMib(mesh: string, memory: number | string): number {
  return Math.ceil(memoryBytes(memory, mesh) / 2 ** 20);
}
