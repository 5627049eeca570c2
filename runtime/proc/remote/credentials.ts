/** The TLS credentials of a process, from the files that it was given. */
import type { CertificateFiles } from "../../../generated/proc-agent.js";
import { type Credentials, FileCredentials } from "../../link/transport/tls/credentials.js";

/** Files are read once for all connections, and again after they have changed. */
const credentialsByFiles = new Map<string, Credentials>();

/** Returns the TLS credentials from certificate files, or undefined without files. */
export function credentialsOf(files: CertificateFiles | undefined): Credentials | undefined {
  if (files === undefined) return undefined;
  const key = [files.cert, files.key, files.ca].join("\n");
  let known = credentialsByFiles.get(key);
  if (known === undefined) {
    known = new FileCredentials(files);
    credentialsByFiles.set(key, known);
  }
  return known;
}
