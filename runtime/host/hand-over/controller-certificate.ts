/**
 * The files of the certificate that a controller gets with a hand-over, on its own machine. They are in the private folder
 * that the daemon has made for the controller, and that it removes when the controller has ended in any way.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TlsFiles } from "../../link/transport/tls/credentials.js";
import type { HandedHosts } from "./hand-over.js";

/** The index of the folder in the arguments of a controller. */
const folderIndex = 3;

/** The files of each certificate. Both orders of the daemon contain the same ones. */
const written = new Map<string, TlsFiles>();

/** Returns the hosts with credentials that this process can use. */
export function withOwnCertificate({ certificate, ...hosts }: HandedHosts): HandedHosts {
  return certificate === undefined ? hosts : { ...hosts, proof: { ...hosts.proof, tls: { ...filesOf(certificate) } } };
}

function filesOf(certificate: NonNullable<HandedHosts["certificate"]>): TlsFiles {
  const known = written.get(certificate.cert);
  if (known !== undefined) return known;
  const folder = process.argv[folderIndex]!;
  const files = {
    cert: join(folder, "certificate.pem"),
    key: join(folder, "key.pem"),
    ca: join(folder, "authority.pem"),
  };
  for (const part of ["cert", "key", "ca"] as const) writeFileSync(files[part], certificate[part], { mode: 0o600 });
  written.set(certificate.cert, files);
  return files;
}
