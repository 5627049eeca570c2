/** The command of a batch job, which its keeper runs: its process, its output, and its end. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type ClientOrder, type ClientOutcome, notStarted } from "../batch/client.js";
import { RotatingLog } from "./rotating-log.js";

/** Time in ms for the command to end after SIGTERM, when the job is killed. */
const graceMs = 1500;

/** Time in ms in which the output of a command that has ended is read. */
const lastOutputMs = 500;

/** Returns the path of the log file of the command of a batch job. */
export function clientLogOf(logs: string): string {
  return join(logs, "command.log");
}

export class KeptClient {
  /** Resolves when the command has ended or could not be started, and its output is in the log. */
  readonly ended: Promise<ClientOutcome>;
  readonly #child: ChildProcess;

  constructor({ command, cwd, env }: ClientOrder, logs: string) {
    const [file, ...args] = command;
    const log = new RotatingLog(clientLogOf(logs));
    this.#child = spawn(file!, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.on("data", (chunk: Buffer) => log.write(chunk));
    }
    this.ended = endOf(this.#child).then((end) => {
      const outcome = end instanceof Error ? notStarted(command, `${end.message} in ${cwd}`) : end;
      if (outcome.error !== undefined) log.write(Buffer.from(`viceroy job: ${outcome.error}\n`));
      log.close();
      return outcome;
    });
  }

  /** Asks the command to end. Resolves when it has ended, or its time for that is over. */
  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    await Promise.race([this.ended, pause(graceMs, undefined, { ref: false })]);
  }
}

/** Resolves with the exit code of a process when its output has been read, or with why it could not be started. */
async function endOf(child: ChildProcess): Promise<ClientOutcome | Error> {
  const closed = once(child, "close").catch(() => {});
  try {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals];
    const endedAt = Date.now();
    // What the command has started may hold its output open for longer.
    await Promise.race([closed, pause(lastOutputMs, undefined, { ref: false })]);
    for (const stream of [child.stdout!, child.stderr!]) stream.destroy();
    return { exitCode: code ?? 128 + constants.signals[signal], endedAt };
  } catch (error) {
    return error as Error;
  }
}
