/** Runs `viceroy job port` on the machine of a driver, and asks a server on a host through the port that it opens. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { project } from "../../proc/crew.js";
import type { ClusterMachine } from "./cluster-machines.js";

const cli = fileURLToPath(new URL("../../../dist/cli/viceroy.js", import.meta.url));
const module = join(project, "programs/jobs-of-options.mjs");
const port = 9;

/** Answers with the name of its machine and what it has heard, when the client has sent all. */
const answering = `require("node:net").createServer({ allowHalfOpen: true }, (socket) => {
  socket.on("data", (data) => socket.end(require("node:os").hostname() + " hears " + data));
}).listen(${port}, require("node:os").hostname(), () => console.log("listens"));`;

export interface PortQuestion {
  /** Where the command runs. */
  readonly driver: { readonly through: readonly string[]; readonly env: NodeJS.ProcessEnv };
  readonly kind: "slurm" | "ssh";
  /** The options of the job, which runs. */
  readonly options: object;
  readonly rank: number;
  /** The host of this rank. */
  readonly host: ClusterMachine;
}

/** Resolves with the answer, and with what the command says about a server that is not there any more. */
export async function askThroughPort({ driver, kind, options, rank, host }: PortQuestion): Promise<readonly string[]> {
  const env = { ...driver.env, JOB_KIND: kind, JOB_OPTIONS: JSON.stringify(options) };
  const run = (through: readonly string[], ...args: string[]): ChildProcess => {
    const [file, ...before] = [...through, process.execPath, ...args];
    return spawn(file!, before, { cwd: project, env, stdio: ["ignore", "pipe", "pipe"] });
  };
  const line = async (stream: NodeJS.ReadableStream | null) =>
    (await once(createInterface(stream!), "line"))[0] as string;
  const server = run(host.through, "--eval", answering);
  const args = ["job", "port", "--job", module, "--rank", String(rank), `0:${port}`, "--json"];
  let command: ChildProcess | undefined;
  try {
    await line(server.stdout);
    command = run(driver.through, cli, ...args);
    const said = line(command.stderr);
    said.catch(() => {});
    const opened = await Promise.race([line(command.stdout), said]);
    if (!opened.startsWith("{")) throw new Error(opened);
    const [address, local] = (JSON.parse(opened) as { readonly local: string }).local.split(":");
    const asking = `require("node:net").connect(${local}, "${address}", function () { this.write("hello"); })
      .on("data", (data) => console.log(String(data))).on("error", () => {})`;
    const answer = await line(run(driver.through, "--eval", asking).stdout);
    server.kill();
    await once(server, "exit");
    run(driver.through, "--eval", asking);
    return [answer, await said];
  } finally {
    server.kill();
    command?.kill();
  }
}
