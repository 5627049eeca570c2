/** The key and the certificate of one process, and the authority that it trusts, as files of a private folder. */
import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import type { TlsFiles } from "../../link/transport/tls/credentials.js";
import type { Identity } from "../../link/transport/tls/identity.js";
import type { Authority, IssueOptions } from "./authority.js";
import { makeSecretFolder, writeSecretFile } from "./secret-files.js";

/** A private key and its public key, as PEM. */
export interface KeyPair {
  readonly privateKey: string;
  readonly publicKey: string;
}

/** Makes a key on the curve P-256. */
export function createKeyPair(): KeyPair {
  return generateKeyPairSync("ec", {
    namedCurve: "P-256",
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
}

/** Returns the paths of the files that `saveCredentials` writes. */
export function filesOfCredentials(folder: string): TlsFiles {
  return {
    cert: join(folder, "certificate.pem"),
    key: join(folder, "key.pem"),
    ca: join(folder, "authority.pem"),
  };
}

/**
 * Writes what a process needs for TLS. Only this user can read the folder and the files.
 * @param pems the contents, as PEM
 * @throws Error if the folder or a file cannot be written, or other users can open the folder
 */
export function saveCredentials(folder: string, pems: Readonly<Record<keyof TlsFiles, string>>): TlsFiles {
  makeSecretFolder(folder);
  const files = filesOfCredentials(folder);
  writeSecretFile(files.key, pems.key);
  writeSecretFile(files.ca, pems.ca);
  writeSecretFile(files.cert, pems.cert);
  return files;
}

/**
 * Makes a key and its certificate for a process on this machine, such as the driver.
 * @throws TypeError if the identity is not one of the job of the authority; RangeError if `validFor` is out of range
 * @throws Error if the folder or a file cannot be written
 */
export function issueCredentials(
  authority: Authority,
  identity: Identity,
  folder: string,
  options: IssueOptions,
): TlsFiles {
  const { privateKey, publicKey } = createKeyPair();
  const cert = authority.issue(publicKey, identity, options);
  return saveCredentials(folder, { cert, key: privateKey, ca: authority.certificate });
}
