/** The checks of what a program asks `Job.spmd` to run. */
import { describeValue } from "../../../shared/text/describe-value.js";
import { checkOptionNames } from "../../shape/check-options.js";
import { planRestart, type RestartPlan } from "../../supervise/restart-policy.js";
import { checkClient } from "../batch/check-client.js";
import type { ClientOrder } from "../batch/client.js";
import { NoSuchMeshError } from "../errors.js";
import type { SpmdOptions } from "./spmd-options.js";

/** The command and its options, with all defaults filled in. */
export interface SpmdPlan extends ClientOrder {
  readonly mesh: string;
  readonly hosts: number;
  readonly procs: number;
  readonly gpusPerProc: number | undefined;
  readonly restart: RestartPlan;
  readonly grace: number;
  readonly stdio: NonNullable<SpmdOptions["stdio"]>;
}

const failed = "cannot start the processes of a job";
const optionNames = ["mesh", "procs", "gpusPerProc", "restart", "grace", "stdio", "cwd", "env", "signal"];
const restartNames = ["policy", "maxRestarts", "within", "backoff"];

/**
 * Checks a command and its options.
 * @throws TypeError, RangeError if one of them is malformed
 * @throws NoSuchMeshError if the job has no such mesh
 */
export function checkSpmd(
  job: string,
  meshes: Readonly<Record<string, { readonly hosts: number }>>,
  options: SpmdOptions,
  command: readonly string[],
): SpmdPlan {
  checkOptionNames(failed, options, optionNames);
  const { cwd, env, procs = 1, gpusPerProc, restart = { policy: "never" }, grace = 5000, stdio = "prefix" } = options;
  const client = checkClient(command, { ...(cwd !== undefined && { cwd }), ...(env !== undefined && { env }) });
  const mesh = options.mesh ?? onlyMesh(job, meshes);
  const hosts = Object.hasOwn(meshes, mesh) ? meshes[mesh]!.hosts : undefined;
  if (hosts === undefined) throw new NoSuchMeshError(job, mesh, Object.keys(meshes));
  requireWhole("procs", procs, 1, 1024);
  requireWhole("grace", grace, 0, 600_000);
  if (gpusPerProc !== undefined) requireWhole("gpusPerProc", gpusPerProc, 0, 1024);
  if (stdio !== "prefix" && stdio !== "ignore" && typeof stdio !== "function") {
    throw new TypeError(`${failed}: expected stdio as "prefix", "ignore" or a function, got ${describeValue(stdio)}`);
  }
  if (typeof restart === "object" && restart !== null) {
    checkOptionNames(`${failed}: invalid restart`, restart, restartNames);
  }
  const plan = planRestart(restart, failed.replace("cannot ", ""));
  return { ...client, mesh, hosts, procs, gpusPerProc, restart: plan, grace, stdio };
}

function onlyMesh(job: string, meshes: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(meshes);
  if (names.length === 1) return names[0]!;
  throw new TypeError(`${failed}: job "${job}" has several meshes; name one with mesh: ${names.join(", ")}`);
}

function requireWhole(name: string, value: unknown, least: number, most: number): void {
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return;
  const expected = `expected ${name} as a whole number from ${least} to ${most}`;
  throw new RangeError(`${failed}: ${expected}, got ${describeValue(value)}`);
}
