/** Installs the daemon that is in a file of the run, and becomes the host. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { isIPv6 } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { recordFileOf, recordVariable } from "../../batch/client.js";
import { hostUri } from "../../credentials/credentials-folder.js";
import type { AwaitedIssuerOrder } from "../../credentials/host-enrolment.js";
import type { HostPlace } from "../../mesh-spec.js";
import { installDaemon } from "../../ssh/starter/install-daemon.js";
import { archiveName, secretsName } from "../task/machine-script.js";
import type { MachineOrder } from "./machine-order.js";

/** The part of the runtime in the archive that this program calls. */
interface Daemon {
  readonly daemon: {
    runHost(
      options: {
        readonly listen: readonly string[];
        readonly token: string | undefined;
        readonly awaitedIssuer: AwaitedIssuerOrder | undefined;
        readonly print: boolean;
        readonly idle: string;
      },
      output: { out(line: string): void; err(line: string): void },
    ): Promise<number>;
  };
}

/**
 * Runs the host until it ends.
 * @param folder that of the run
 * @param ip the address of this machine
 * @returns its exit code
 */
export async function serveHost(folder: string, order: MachineOrder, place: HostPlace, ip: string): Promise<number> {
  const { archive, applyId, hasCertificate, port, idle, record } = order;
  const identity = hostUri(applyId, place);
  const secrets = JSON.parse(readFileSync(join(folder, secretsName), "utf8")) as Readonly<Record<string, string>>;
  const secret = secrets[identity];
  if (secret === undefined) throw new Error(`cannot start: the machine has no secret of ${identity}`);
  const bytes = readFileSync(join(folder, archiveName));
  const installed = await installDaemon(archive, Readable.from([bytes]), () => {});
  console.log(`viceroy host: runs with Node.js ${process.versions.node}, from ${installed}`);
  const own = mkdtempSync(join(tmpdir(), "viceroy-machine-"));
  try {
    const recordFile = recordFileOf(own);
    writeFileSync(recordFile, record, { mode: 0o600 });
    process.env[recordVariable] = recordFile;
    const file = join(installed, "load.cjs");
    const { load } = createRequire(file)(file) as { load(): Daemon };
    const host = isIPv6(ip) ? `[${ip}]` : ip;
    const listen = [`${hasCertificate ? "tls" : "tcp"}://${host}:${port}`];
    const awaitedIssuer = hasCertificate
      ? {
          identity,
          secret,
          socket: { host: ip, port: port + 1 },
          folder: join(own, "credentials"),
          // A driver may come later, and nothing else ends a host that never had one.
          patience: idle,
        }
      : undefined;
    const token = hasCertificate ? undefined : secret;
    const output = { out: (line: string) => console.log(line), err: (line: string) => console.error(line) };
    return await load().daemon.runHost({ listen, token, awaitedIssuer, print: true, idle: String(idle) }, output);
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}
