/** What a driver presents to the hosts of a run: the certificate that the run has for it, or the token of the hosts. */
import { errorMessage } from "../../shared/text/error-message.js";
import type { TlsFiles } from "../link/transport/tls/credentials.js";
import { credentialsFolder } from "./credentials/credentials-folder.js";
import type { DriverCredentials, DriverRole } from "./credentials/index.js";
import { JobStartError } from "./errors.js";
import type { TlsSpec } from "./job-options.js";
import type { JobProvider, ReadyHost } from "./provider.js";
import type { JobRecord } from "./record/job-record.js";

/** The options of `attachHosts` about credentials. */
export type DriverProof = { readonly tls: TlsFiles } | { readonly token: string } | Record<string, never>;

/**
 * Opens the certificate of this program as a driver of a run; undefined if its hosts have none.
 * @param role whether the program only looks
 * @throws JobStartError if a file of the run cannot be used
 */
export async function openCertificate(
  { name, folder }: Pick<JobRecord, "name" | "folder">,
  tls: TlsSpec | null,
  role: DriverRole,
): Promise<DriverCredentials | undefined> {
  if (tls === null) return undefined;
  const { openDriverCredentials } = await import("./credentials/index.js");
  try {
    return openDriverCredentials(credentialsFolder(folder), tls.lifetime, role);
  } catch (cause) {
    throw unusable(name, cause);
  }
}

/**
 * Returns why no controller on the hosts of a job outlives this program; undefined if it does.
 * @param isInside whether this program is the command of the job
 * @param isRecorded whether the job has a cache, or was found in one
 */
export function whyHostsEnd(isInside: boolean, isRecorded: boolean): string | undefined {
  if (isInside) return "it ends with its command, in which this program runs";
  if (isRecorded) return undefined;
  return "it has no cache, so its hosts end with this program; give it a file with the option cache";
}

/**
 * Makes a certificate for a controller of a run; undefined if its hosts have none.
 * @throws JobStartError if a file of the run cannot be used
 */
export async function controllerFilesOf(
  { tls }: Pick<JobProvider, "tls">,
  { record: { name, folder } }: { readonly record: Pick<JobRecord, "name" | "folder"> },
): Promise<TlsFiles | undefined> {
  if (tls === null) return undefined;
  const { issueController } = await import("./credentials/index.js");
  try {
    return issueController(credentialsFolder(folder));
  } catch (cause) {
    throw unusable(name, cause);
  }
}

function unusable(name: string, cause: unknown): JobStartError {
  const advice = 'end the job with kill() or "viceroy job kill", and submit it again';
  return new JobStartError(name, `its credentials cannot be used: ${errorMessage(cause)}; ${advice}`, { cause });
}

/**
 * Returns what the driver presents to hosts. If these are on other machines and have no certificates, the user is warned.
 * @param job the name of the job
 */
export function proofFor(job: string, [host]: readonly ReadyHost[], tls: TlsFiles | undefined): DriverProof {
  if (tls !== undefined) return { tls };
  const token = host?.token;
  // Hosts on this machine have no token.
  if (token === undefined) return {};
  process.stderr.write(
    `viceroy job ${job}: WARNING: tls is false: connections between its machines are not encrypted, and whoever reads or ` +
      "changes them can read messages and run programs on its hosts; leave the option tls out, unless the network is trusted\n",
  );
  return { token };
}
