/**
 * The folder of the credentials of one run of a job, which a driver makes before it submits the run: the authority, the
 * secrets of the hosts, and the key and certificate of the driver. Whoever signs for the hosts needs the first two.
 */
import { createPublicKey, randomBytes, X509Certificate } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { errorMessage } from "../../../shared/text/error-message.js";
import { MAX_TIMER_MS, systemClock, systemRandom } from "../../link/clock.js";
import type { TlsFiles } from "../../link/transport/tls/credentials.js";
import type { Identity } from "../../link/transport/tls/identity.js";
import type { HostPlace } from "../mesh-spec.js";
import { Authority } from "./authority.js";
import { filesOfCredentials, issueCredentials } from "./credential-files.js";
import { hostUri, secretsFile } from "./credentials-folder.js";
import type { EnrolledKeys } from "./enrolled-keys.js";
import { EnrolmentDesk } from "./enrolment-desk.js";
import { createEnrolmentSecret, readSecrets, writeSecrets } from "./enrolment-secret.js";
import { readSecretFile, writeSecretFile } from "./secret-files.js";
import { sharedFiles } from "./shared-credentials.js";

/** A program presents the certificate of one of these roles to hosts: a driver has all rights, and a viewer only looks. The roles are the names of their folders. */
export type DriverRole = "driver" | "viewer";

/**
 * Makes the credentials of a new run.
 * @param folder the folder of the credentials
 * @param lifetime the lifetime of certificates, in ms
 * @returns the secrets of the hosts by the URIs of their identities
 * @throws Error if a file cannot be written
 */
export function createCredentials(
  folder: string,
  job: string,
  places: readonly HostPlace[],
  lifetime: number,
): Record<string, string> {
  const authority = Authority.create(job);
  authority.save(folder);
  const secrets = Object.fromEntries(places.map((place) => [hostUri(job, place), createEnrolmentSecret()]));
  writeSecrets(join(folder, secretsFile), secrets);
  issueCredentials(authority, { job, role: "driver" }, join(folder, "driver"), { validFor: lifetime });
  return secrets;
}

/**
 * Makes secrets for further hosts of a run that have none. An issuer that starts later expects them.
 * @param folder the folder of the credentials
 * @throws Error if a file cannot be read or written
 */
export function addSecrets(folder: string, job: string, places: readonly HostPlace[]): void {
  const file = join(folder, secretsFile);
  const further = Object.fromEntries(places.map((place) => [hostUri(job, place), createEnrolmentSecret()]));
  writeSecrets(file, { ...further, ...readSecrets(file) });
}

/**
 * Returns the desk at which the hosts of a run enrol.
 * @param folder the folder with `issuerFiles`
 * @param keys keeps the keys of the hosts; absent: in memory
 * @throws Error if a file cannot be read, is malformed, or other users can read it
 */
export function openDesk(folder: string, lifetime: number, keys?: EnrolledKeys): EnrolmentDesk {
  return new EnrolmentDesk({
    clock: systemClock,
    random: systemRandom,
    authority: Authority.load(folder),
    validFor: lifetime,
    secrets: readSecrets(join(folder, secretsFile)),
    ...(keys === undefined ? {} : { keys }),
  });
}

/** The certificate of a driver, which is renewed until its end. */
export interface DriverCredentials {
  readonly files: TlsFiles;
  /** Ends the renewals. */
  close(): void;
}

/**
 * Opens the certificate of a driver, which is made if there is none. It is renewed with the same key, now if half of its lifetime is over, and after each
 * quarter of it from then on. Several drivers of a run may do so at the same time.
 * @param folder the folder of the credentials
 * @param role that of a viewer is replaced by that of a driver if the run was submitted on another machine that has shared the latter only
 * @throws Error if a file cannot be read, is malformed, or other users can read it
 */
export function openDriverCredentials(folder: string, lifetime: number, role: DriverRole): DriverCredentials {
  // Whoever shares them has made them for a long time.
  const shared = sharedFiles(folder, role) ?? sharedFiles(folder, "driver");
  if (shared !== undefined) return { files: shared, close() {} };
  const authority = Authority.load(folder);
  const own = join(folder, role);
  const identity: Identity = { job: authority.job, role };
  const files = filesOfCredentials(own);
  // The authority can be on a machine to which the key of the first driver was not brought, such as a node.
  if (!existsSync(files.key)) {
    issueCredentials(authority, identity, own, { validFor: lifetime });
  }
  const publicKey = createPublicKey(readSecretFile(files.key)).export({ type: "spki", format: "pem" }) as string;
  const renew = () => writeSecretFile(files.cert, authority.issue(publicKey, identity, { validFor: lifetime }));
  if (isHalfOver(files.cert, lifetime)) renew();
  const timer = setInterval(
    () => {
      // A folder that was removed belongs to a run that has ended.
      try {
        renew();
      } catch (error) {
        process.stderr.write(`viceroy job: cannot renew the certificate of this program: ${errorMessage(error)}\n`);
      }
    },
    Math.min(lifetime / 4, MAX_TIMER_MS),
  ).unref();
  return { files, close: () => clearInterval(timer) };
}

/** The lifetime of the certificate of a controller, in ms: a year. It ends with its job, and nobody renews it. */
const controllerLifetime = 365 * 86_400_000;

/**
 * Makes a new key and certificate for a controller of a run.
 * @param folder the folder of the credentials
 * @throws Error if a file cannot be read or written, is malformed, or other users can read it
 */
export function issueController(folder: string): TlsFiles {
  const shared = sharedFiles(folder, "controller");
  if (shared !== undefined) return shared;
  const authority = Authority.load(folder);
  const identity = { job: authority.job, role: "controller" } as const;
  // Each program that detaches gets a controller of its own.
  const own = join(folder, `controller-${randomBytes(4).toString("hex")}`);
  return issueCredentials(authority, identity, own, { validFor: controllerLifetime });
}

function isHalfOver(certificate: string, lifetime: number): boolean {
  try {
    const end = Date.parse(new X509Certificate(readFileSync(certificate)).validTo);
    return end - systemClock.epochMs() < lifetime / 2;
  } catch {
    // The certificate is lost, and its key is not.
    return true;
  }
}
