/** The places of the credentials of a job: the names of folders and files, and the identities of hosts. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { HostPlace } from "../mesh-spec.js";

/** The part of the folder of a run with its credentials. */
export const credentialsName = "credentials";

/** The key and the certificate of the authority, and the secrets of all hosts. */
export const authorityKey = "authority.key";
export const authorityCertificate = "authority.pem";
export const secretsFile = "secrets";

/** The files of the folder that whoever signs for the hosts needs. */
export const issuerFiles: readonly string[] = [authorityKey, authorityCertificate, secretsFile];

/** Returns the folder of the credentials of a run. @param folder the folder of its files */
export function credentialsFolder(folder: string): string {
  return join(folder, credentialsName);
}

/** Removes the credentials of a run. Idempotent. @param folder the folder of its files */
export function removeCredentials(folder: string): void {
  rmSync(credentialsFolder(folder), { recursive: true, force: true });
}

/** Returns the identity of a host as a URI. @param job the id of the run */
export function hostUri(job: string, { mesh, rank }: HostPlace): string {
  return `viceroy://${job}/hosts/${mesh}/${rank}`;
}
