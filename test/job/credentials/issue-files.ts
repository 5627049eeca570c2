/** Certificates of processes of a job, for tests. */
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Authority } from "../../../runtime/job/credentials/authority.js";
import { FileCredentials, type TlsFiles } from "../../../runtime/link/transport/tls/credentials.js";
import { type Identity, parseIdentity } from "../../../runtime/link/transport/tls/identity.js";

/** Writes a new key, its certificate and the authority. @param validFor the lifetime of the certificate, in ms */
export async function issueFiles(
  authority: Authority,
  identity: Identity | string,
  validFor = 3_600_000,
): Promise<TlsFiles> {
  const { publicKey, privateKey } = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const named = typeof identity === "string" ? parseIdentity(identity) : identity;
  const folder = mkdtempSync(path.join(tmpdir(), "viceroy-issued-"));
  const files = { cert: path.join(folder, "cert"), key: path.join(folder, "key"), ca: path.join(folder, "ca") };
  writeFileSync(files.cert, await authority.issue(publicKey, named, { validFor }));
  writeFileSync(files.key, privateKey, { mode: 0o600 });
  writeFileSync(files.ca, authority.certificate);
  return files;
}

export async function issueCredentials(...of: Parameters<typeof issueFiles>): Promise<FileCredentials> {
  return new FileCredentials(await issueFiles(...of));
}
