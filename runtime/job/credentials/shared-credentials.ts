/**
 * The credentials with which programs on other machines use a run: a certificate of a driver and one of a controller, or one of a viewer for those
 * who only look. They do not have the key of the authority, so these programs sign for no host.
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

/** Shared credentials are for drivers with all rights, or for those who only look. */
export type SharedWith = "drivers" | "viewers";

type SharedRole = Exclude<Identity["role"], "host">;

/** The roles of the certificates, which are the names of their folders. */
const rolesOf = {
  drivers: ["driver", "controller"],
  viewers: ["viewer"],
} as const satisfies Record<SharedWith, readonly SharedRole[]>;

/** The certificate of the authority, and the certificates and keys of all roles, as PEM by their names. */
export type SharedCredentials = Readonly<Record<string, string>>;

const authorityName = "authority.pem";

/** Returns the names of the parts of {@link SharedCredentials}. */
export function sharedNames(who: SharedWith): readonly string[] {
  return [authorityName, ...rolesOf[who].flatMap((role) => [`${role}.pem`, `${role}.key`])];
}

/**
 * Makes new credentials for programs on other machines.
 * @param folder the folder of the credentials of the run
 * @throws Error if a file cannot be read, is malformed, or other users can read it
 */
export function issueShared(folder: string, who: SharedWith): SharedCredentials {
  const authority = Authority.load(folder);
  const issue = (role: SharedRole) => {
    const { privateKey, publicKey } = createKeyPair();
    const identity: Identity = { job: authority.job, role };
    const certificate = authority.issue(publicKey, identity, { validFor: sharedLifetime });
    return { [`${role}.pem`]: certificate, [`${role}.key`]: privateKey };
  };
  return Object.assign({ [authorityName]: authority.certificate }, ...rolesOf[who].map(issue));
}

/**
 * Writes the credentials of a run that was submitted on another machine.
 * @param folder the folder of the credentials of the run
 * @throws Error if a file cannot be written
 */
export function saveShared(folder: string, who: SharedWith, shared: SharedCredentials): void {
  makeSecretFolder(folder);
  for (const role of rolesOf[who]) {
    const pems = { cert: shared[`${role}.pem`]!, key: shared[`${role}.key`]!, ca: shared[authorityName]! };
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
