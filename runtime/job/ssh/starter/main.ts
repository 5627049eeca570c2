/**
 * The starter: the program on a host that installs the daemon and becomes it. It is built as one text, which `ssh`
 * brings to the host (ssh-command.ts), where it runs as a function of `require` and `order`.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { errorMessage } from "../../../../shared/text/error-message.js";
import { processStat } from "../../../process-table.js";
import { recordFileOf, recordVariable } from "../../batch/client.js";
import type { AwaitedIssuerOrder } from "../../credentials/host-enrolment.js";
import { endMarkedProcesses } from "../../keeper/marked-processes.js";
import { insideAddress } from "./inside-address.js";
import { installDaemon } from "./install-daemon.js";
import { archiveRequest, type StarterOrder } from "./starter-order.js";

declare const order: StarterOrder;

/** The part of the runtime in the archive that the starter calls. */
interface Daemon {
  readonly daemon: {
    runHost(
      options: {
        readonly listen: readonly string[];
        readonly token: string | undefined;
        readonly awaitedIssuer: AwaitedIssuerOrder | undefined;
        readonly lifeline: boolean;
        readonly print: boolean;
      },
      output: { out(line: string): void; err(line: string): void },
    ): Promise<number>;
  };
}

/** Time in ms for the job to sign the certificate of the host. It is shorter than the silence after which a host ends. */
const enrolmentMs = 15_000;

/** Prints a line of the protocol. What a login shell has printed before may lack the end of its line. */
function say(line: string): void {
  process.stdout.write(`\n${line}\n`);
}

/** Ends the daemon when nothing has come for a while: the end of a connection that is cut is never announced. */
function endWhenSilent(silence: number): void {
  const timer = setTimeout(() => {
    console.error(`viceroy host: ends, because it has heard nothing from its job for ${silence} ms`);
    process.kill(process.pid, "SIGTERM");
  }, silence);
  process.stdin.on("data", () => timer.refresh());
}

function insideUrl(kind: "tcp" | "tls", port: number): string {
  const ip = insideAddress();
  return `${kind}://${ip.includes(":") ? `[${ip}]` : ip}:${port}`;
}

/**
 * Makes the folder of the socket. If it is there, this host was started before: the connection to that one was lost, and it must not serve
 * any more. What runs in the session of this process belongs to this connection.
 * @throws Error if the folder cannot be made, because it belongs to another user
 */
async function makeFolder(directory: string, mark: string): Promise<void> {
  if (existsSync(directory)) {
    const own = processStat(process.pid)?.session;
    // A daemon that got SIGTERM would end this process, which has the same mark.
    await endMarkedProcesses(mark, undefined, (pid) => processStat(pid)?.session === own, 0);
    rmSync(directory, { recursive: true, force: true });
  }
  mkdirSync(directory, { mode: 0o700 });
}

async function start({
  archive,
  mark,
  socket,
  record,
  port,
  token,
  enrolment,
  silence,
}: StarterOrder): Promise<number> {
  const folder = await installDaemon(archive, process.stdin, () => say(archiveRequest(archive)));
  say(`viceroy host: runs on ${hostname()}, Node.js ${process.versions.node}, from ${folder}`);
  const directory = dirname(socket);
  await makeFolder(directory, mark);
  try {
    endWhenSilent(silence);
    const recordFile = recordFileOf(directory);
    writeFileSync(recordFile, record, { mode: 0o600 });
    process.env[recordVariable] = recordFile;
    const file = join(folder, "load.cjs");
    const { load } = createRequire(file)(file) as { load(): Daemon };
    const listen = [insideUrl(enrolment === undefined ? "tcp" : "tls", port), `unix://${socket}`];
    const awaitedIssuer = enrolment && { ...enrolment, folder: join(directory, "credentials"), patience: enrolmentMs };
    const output = { out: (line: string) => console.log(line), err: (line: string) => console.error(line) };
    return await load().daemon.runHost({ listen, token, awaitedIssuer, lifeline: true, print: true }, output);
  } finally {
    // Processes can have left the sessions of their parents.
    await endMarkedProcesses(mark);
    rmSync(directory, { recursive: true, force: true });
  }
}

process.title = "viceroy host";
start(order)
  .catch((error) => {
    process.stderr.write(`viceroy host: ${errorMessage(error)}\n`);
    return 70;
  })
  .then((code) => process.exit(code));
