/**
 * The credentials with which programs on other machines use a run: a certificate of a driver and one of a controller. They do not have the key of the
 * authority, so these programs sign for no host.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { TlsFiles } from "../../link/transport/tls/credentials.js";
import type { Identity } from "../../link/transport/tls/identity.js";
import { Authority } from "./authority.js";
import { createKeyPair, filesOfCredentials, saveCredentials } from "./credential-files.js";
import { authorityKey } from "./credentials-folder.js";
import { makeSecretFolder } from "./secret-files.js";

/** The lifetime of the certificates in ms: a year. They are useless when their run has ended. */
const sharedLifetime = 365 * 86_400_000;

/** The roles of the certificates, and the names of their folders. */
const roles = ["driver", "controller"] as const;
type SharedRole = (typeof roles)[number];

/** The certificate of the authority, and the certificates and keys of both roles, as PEM by their names. */
export type SharedCredentials = Readonly<Record<(typeof sharedNames)[number], string>>;

/** The names of the parts of {@link SharedCredentials}. */
export const sharedNames = ["authority.pem", "driver.pem", "driver.key", "controller.pem", "controller.key"] as const;

/**
 * Makes new credentials for programs on other machines.
 * @param folder the folder of the credentials of the run
 * @throws Error if a file cannot be read, is malformed, or other users can read it
 */
export function issueShared(folder: string): SharedCredentials {
  const authority = Authority.load(folder);
  const issue = (role: SharedRole) => {
    const { privateKey, publicKey } = createKeyPair();
    const identity: Identity = { job: authority.job, role };
    const certificate = authority.issue(publicKey, identity, { validFor: sharedLifetime });
    return { [`${role}.pem`]: certificate, [`${role}.key`]: privateKey };
  };
  const own = Object.assign({}, ...roles.map(issue));
  return { "authority.pem": authority.certificate, ...own };
}

/**
 * Writes the credentials of a run that was submitted on another machine.
 * @param folder the folder of the credentials of the run
 * @throws Error if a file cannot be written
 */
export function saveShared(folder: string, shared: SharedCredentials): void {
  makeSecretFolder(folder);
  for (const role of roles) {
    const pems = { cert: shared[`${role}.pem`], key: shared[`${role}.key`], ca: shared["authority.pem"] };
    saveCredentials(join(folder, role), pems);
  }
}

/**
 * Returns the files of a role, if the run was submitted on another machine.
 * @param folder the folder of the credentials of the run
 */
export function sharedFiles(folder: string, role: SharedRole): TlsFiles | undefined {
  if (existsSync(join(folder, authorityKey))) return undefined;
  const files = filesOfCredentials(join(folder, role));
  return existsSync(files.key) ? files : undefined;
}
