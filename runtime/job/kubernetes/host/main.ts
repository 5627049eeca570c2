/**
 * The program of a pod: it installs the daemon that is in parts beside it, and becomes the host of its rank. It is built as one file, which a
 * ConfigMap brings.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { errorMessage } from "../../../../shared/text/error-message.js";
import { recordFileOf, recordVariable } from "../../batch/client.js";
import { hostUri } from "../../credentials/credentials-folder.js";
import type { AwaitedIssuerOrder } from "../../credentials/host-enrolment.js";
import { installDaemon } from "../../ssh/starter/install-daemon.js";
import { enrolmentPort, gatewayPort, hostPort, secretFile } from "../manifest/layout.js";
import { forwardLoopback } from "./forward-loopback.js";
import { type HostOrder, orderName } from "./host-order.js";

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
        readonly grace: number;
      },
      output: { out(line: string): void; err(line: string): void },
    ): Promise<number>;
  };
}

/** The exit code of a host that was told to end: its Job makes another pod of its rank only if it has failed. */
const toldToEnd = 143;
const failed = 70;

/** @throws Error if this program runs in a pod that the job has not made */
function variable(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== "") return value;
  throw new Error(
    `cannot start: the pod has no variable ${name}; keep the env of the container when you change its template`,
  );
}

function readArchive(folder: string): Buffer {
  const parts: Buffer[] = [];
  for (let part = 0; existsSync(join(folder, `daemon.${part}`)); part++) {
    parts.push(readFileSync(join(folder, `daemon.${part}`)));
  }
  return Buffer.concat(parts);
}

async function start(): Promise<number> {
  const folder = __dirname;
  const order = JSON.parse(readFileSync(join(folder, orderName), "utf8")) as HostOrder;
  const ip = variable("VICEROY_POD_IP");
  // The code of the program must be below the folder of the image, so that it finds the packages there.
  mkdirSync(variable("XDG_CACHE_HOME"), { recursive: true, mode: 0o700 });
  const place = { mesh: variable("VICEROY_JOB_MESH"), rank: Number(variable("VICEROY_JOB_RANK")) };
  for (const port of [hostPort, ...(order.hasCertificate ? [enrolmentPort] : [])]) {
    forwardLoopback(port, ip, (reason) =>
      console.error(
        `viceroy host: drivers cannot use it through the API server: port ${port} of the loopback address: ${reason}`,
      ),
    );
  }
  const secret = readFileSync(secretFile, "utf8").trim();
  const archive = readArchive(folder);
  const installed = await installDaemon(order.archive, Readable.from([archive]), () => {});
  console.log(`viceroy host: runs with Node.js ${process.versions.node}, from ${installed}`);
  const own = mkdtempSync(join(tmpdir(), "viceroy-pod-"));
  try {
    const recordFile = recordFileOf(own);
    writeFileSync(recordFile, order.record, { mode: 0o600 });
    process.env[recordVariable] = recordFile;
    const file = join(installed, "load.cjs");
    const { load } = createRequire(file)(file) as { load(): Daemon };
    const host = ip.includes(":") ? `[${ip}]` : ip;
    const listen = [
      `${order.hasCertificate ? "tls" : "tcp"}://${host}:${hostPort}`,
      ...(order.hasGateway ? [`ws://${host}:${gatewayPort}`] : []),
    ];
    const awaitedIssuer: AwaitedIssuerOrder | undefined = order.hasCertificate
      ? {
          identity: hostUri(variable("VICEROY_JOB"), place),
          secret,
          socket: { host: ip, port: enrolmentPort },
          folder: join(own, "credentials"),
          // A driver may come later. The pod is ended by its startup probe if none does.
          patience: 86_400_000,
        }
      : undefined;
    const token = order.hasCertificate ? undefined : secret;
    const idle = process.env["VICEROY_HOST_IDLE"] ?? String(order.idle);
    const grace = Number(process.env["VICEROY_HOST_GRACE"] ?? 0);
    const output = { out: (line: string) => console.log(line), err: (line: string) => console.error(line) };
    return await load().daemon.runHost({ listen, token, awaitedIssuer, print: true, idle, grace }, output);
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

process.title = "viceroy host";
let code = 0;
process.once("SIGTERM", () => {
  code = toldToEnd;
});
start()
  .catch((error) => {
    process.stderr.write(`viceroy host: ${errorMessage(error)}\n`);
    return failed;
  })
  .then((ended) => process.exit(ended === 0 ? code : ended));
