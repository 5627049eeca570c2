/** Certificates of processes of a job, for tests. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Authority } from "../../../runtime/job/credentials/authority.js";
import { issueCredentials as issueTo } from "../../../runtime/job/credentials/credential-files.js";
import { FileCredentials, type TlsFiles } from "../../../runtime/link/transport/tls/credentials.js";
import { parseIdentity } from "../../../runtime/link/transport/tls/identity.js";

/** Writes a new key, its certificate and the authority. @param validFor the lifetime of the certificate, in ms */
export function issueFiles(authority: Authority, identity: string, validFor = 3_600_000): TlsFiles {
  const folder = mkdtempSync(path.join(tmpdir(), "viceroy-issued-"));
  return issueTo(authority, parseIdentity(identity), folder, { validFor });
}

export function issueCredentials(...of: Parameters<typeof issueFiles>): FileCredentials {
  return new FileCredentials(issueFiles(...of));
}
