/** The meshes that a job asks for, and their checks. */
import { describeValue } from "../../shared/text/describe-value.js";
import { checkOptionNames } from "../shape/check-options.js";
import { optionError } from "./check-option.js";

/** The hosts of one mesh, and what each host must have. Providers add options of their own. */
export interface MeshSpec {
  /** The number of hosts, at least 1. */
  readonly hosts: number;
  /** The processors of each host. */
  readonly cpus?: number;
  /** The GPUs of each host. */
  readonly gpus?: number;
  /** The memory of each host: bytes, or text such as `"16GiB"`. */
  readonly memory?: number | string;
}

/** One host of a job: its mesh and its rank in the mesh. */
export interface HostPlace {
  readonly mesh: string;
  readonly rank: number;
}

/** Returns the name of a host in messages: `trainers[2]`. */
export function formatPlace({ mesh, rank }: HostPlace): string {
  return `${mesh}[${rank}]`;
}

/** Returns all hosts of the meshes, in the order of declaration, then of the ranks. */
export function hostPlaces(meshes: Readonly<Record<string, { readonly hosts: number }>>): HostPlace[] {
  return Object.entries(meshes).flatMap(([mesh, { hosts }]) =>
    Array.from({ length: hosts }, (_, rank) => ({ mesh, rank })),
  );
}

/** Names that a job's state has for other things, or that JavaScript reads from any object. */
const reservedNames = new Set(["then", "constructor", "toJSON", "toString", "valueOf", "__proto__", "prototype"]);

/** Maximum number of hosts of a mesh. */
const maxHosts = 100_000;

/**
 * Checks what all providers have in common.
 * @param optionNames the options that the provider knows per mesh
 * @throws {TypeError} when a name or an option is malformed
 * @throws {RangeError} when a number is out of range
 */
export function checkMeshes(meshes: unknown, optionNames: readonly string[]): void {
  if (typeof meshes !== "object" || meshes === null || Array.isArray(meshes)) {
    throw optionError("meshes as an object, such as { workers: { hosts: 2 } }", meshes);
  }
  const entries = Object.entries(meshes as Record<string, unknown>);
  if (entries.length === 0) throw optionError("at least one mesh", meshes);
  for (const [name, spec] of entries) {
    if (!/^[A-Za-z_]\w{0,63}$/.test(name) || reservedNames.has(name)) {
      throw optionError(
        "names of meshes that consist of up to 64 letters, digits and _, other than those of every object",
        name,
      );
    }
    checkMesh(name, spec, optionNames);
  }
}

function checkMesh(name: string, spec: unknown, optionNames: readonly string[]): void {
  checkOptionNames(`cannot make mesh "${name}" of a job`, spec, optionNames);
  const { cpus, gpus, memory } = spec as MeshSpec;
  for (const [option, value] of Object.entries({ cpus, gpus })) {
    if (value !== undefined && !(Number.isInteger(value) && value >= 0)) {
      throw new RangeError(
        `cannot make a job: expected ${option} of mesh "${name}" as a whole number, got ${describeValue(value)}`,
      );
    }
  }
  if (memory !== undefined) memoryBytes(memory, name);
}

/** @throws {RangeError} when the number of hosts is not a whole number of at least 1 */
export function checkHostCount(name: string, hosts: unknown): void {
  if (Number.isInteger(hosts) && (hosts as number) >= 1 && (hosts as number) <= maxHosts) return;
  throw new RangeError(
    `cannot make a job: expected hosts of mesh "${name}" as a whole number from 1 to ${maxHosts}, got ${describeValue(hosts)}`,
  );
}

const memoryUnits: Readonly<Record<string, number>> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

/** Returns an amount of memory in bytes. @throws {TypeError} when it is malformed */
export function memoryBytes(memory: unknown, mesh: string): number {
  if (typeof memory === "number" && Number.isSafeInteger(memory) && memory > 0) return memory;
  const [, digits, unit] = (typeof memory === "string" && /^(\d+(?:\.\d+)?)(KiB|MiB|GiB|TiB)$/.exec(memory)) || [];
  if (digits !== undefined) return Math.floor(Number(digits) * memoryUnits[unit!]!);
  throw optionError(`memory of mesh "${mesh}" as bytes or as text such as "512MiB", "16GiB"`, memory);
}
