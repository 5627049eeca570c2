/** Hands what a program owns on the hosts of a job to a controller there (`host/hand-over/`), with the errors of jobs. */
import { describeValue } from "../../shared/text/describe-value.js";
import { errorMessage } from "../../shared/text/error-message.js";
import type { TlsFiles } from "../link/transport/tls/credentials.js";
import { checkOptionNames } from "../shape/check-options.js";
import type { DetachOptions } from "./call-options.js";
import { controllerFilesOf, whyHostsEnd } from "./driver-proof.js";
import { JobDetachError } from "./errors.js";
import type { JobLife } from "./job-life.js";
import { detachHosts, HandOverRefusedError, type HostMesh } from "./kernel.js";

/** The default, and the longest time in ms for calls that are under way. */
const defaultDrain = 5000;
const longestDrain = 60_000;

/** @throws {TypeError, RangeError} for invalid options. @returns the time for calls that are under way, in ms */
export function checkDrain(job: string, options: DetachOptions): number {
  checkOptionNames(`cannot detach job "${job}"`, options, ["drain"]);
  const { drain = defaultDrain } = options;
  if (drain >= 0 && drain <= longestDrain) return drain;
  const expected = `drain in milliseconds, from 0 to ${longestDrain}`;
  throw new RangeError(`cannot detach job "${job}": expected ${expected}, got ${describeValue(drain)}`);
}

/**
 * Hands what this program owns on the hosts of a job to a controller, and leaves the job.
 * @throws JobDetachError if the program cannot detach
 */
export async function detachJob(life: JobLife, drain: number): Promise<void> {
  const refuse = (why: string) => new JobDetachError(life.name, [why]);
  if (life.provider.isOwnHost === true) throw refuse("its host is this machine, and ends with this program");
  const why = whyHostsEnd(life.isInside, life.cache !== undefined || life.known !== undefined);
  if (why !== undefined) throw refuse(why);
  const { run } = life;
  if (run?.attached === undefined) throw refuse("this program has not attached its hosts; call state first");
  const tls = await controllerFilesOf(life.provider, run);
  await detachRun(life.name, run.attached, drain, () => life.forget(run), tls);
}

/**
 * @param tls the files of the certificate of the controller, if the hosts need one
 * @param left called when this program has left the hosts, also if the controller could not take over
 * @throws JobDetachError if the program cannot detach
 */
async function detachRun(
  job: string,
  meshes: readonly HostMesh<"hosts">[],
  drain: number,
  left: () => void,
  tls?: TlsFiles,
): Promise<void> {
  try {
    await detachHosts(meshes, { subject: `job "${job}"`, drain, ...(tls === undefined ? {} : { tls }) });
  } catch (cause) {
    if (cause instanceof HandOverRefusedError) throw new JobDetachError(job, cause.reasons, { cause });
    left();
    throw new JobDetachError(job, [errorMessage(cause)], { cause });
  }
  left();
}
