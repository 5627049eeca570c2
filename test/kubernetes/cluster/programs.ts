/** Starts the programs of Kubernetes, so that none of them outlives this process. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import path from "node:path";
import { gone } from "../../proc/until.js";

export interface Program {
  /** The command prefix of the place where it runs. */
  readonly through: readonly string[];
  readonly command: readonly string[];
  /** The folder in which it runs and where its log is. */
  readonly folder: string;
  readonly name: string;
  readonly env?: NodeJS.ProcessEnv;
}

export class RunningProgram {
  readonly child: ChildProcess;
  readonly #program: Program;

  constructor(program: Program) {
    const { through, command, folder, env = process.env } = program;
    this.#program = program;
    const log = openSync(this.#log, "a");
    // The kernel kills the program when this process ends, however it ends.
    const [file, ...args] = [...through, "setpriv", "--pdeathsig", "SIGKILL", "--", ...command];
    this.child = spawn(file!, args, { cwd: folder, env, stdio: ["ignore", log, log] });
    this.child.on("error", () => {});
    closeSync(log);
  }

  get #log(): string {
    return path.join(this.#program.folder, `${this.#program.name}.log`);
  }

  /** @throws Error with the end of its log if the program has ended */
  check(): void {
    const { child } = this;
    if (child.pid !== undefined && !gone(child.pid)) return;
    const lines = readFileSync(this.#log, "utf8").trim().split("\n").slice(-15);
    throw new Error(
      `cannot run ${this.#program.name}: it ended with ${child.exitCode ?? child.signalCode}. ${lines.join("\n")}`,
    );
  }

  async stop(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const { child } = this;
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }
}
