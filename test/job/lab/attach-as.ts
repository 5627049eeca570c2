/** Runs a program on a machine that attaches a host with given credentials (test/fixtures/crew/programs/attach-as.ts). */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TlsFiles } from "../../../runtime/link/transport/tls/credentials.js";
import { project } from "../../proc/crew.js";

export interface Attached {
  /** The process of the actor on the host. */
  readonly pid?: number;
  /** Why the host could not be attached. */
  readonly message?: string;
}

/**
 * Attaches a host.
 * @param through the command prefix that runs a program on the machine
 * @param folder the folder with the certificate, its key and the authority
 */
export async function attachAs(through: readonly string[], address: string, folder: string): Promise<Attached> {
  const files: TlsFiles = {
    cert: join(folder, "certificate.pem"),
    key: join(folder, "key.pem"),
    ca: join(folder, "authority.pem"),
  };
  const program = [process.execPath, "--import", "tsx", join(project, "programs/attach-as.ts")];
  const [file, ...args] = [...through, ...program, address, JSON.stringify(files)];
  const { stdout } = await promisify(execFile)(file!, args, { cwd: project });
  return JSON.parse(stdout) as Attached;
}
