/** The daemon in the pod of a command, to which the driver brings the program. What it prints is shown only if it fails. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** Number of characters of its output that are kept. */
const kept = 4000;

export class DaemonOfPod {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #output = "";

  constructor(program: string, env: NodeJS.ProcessEnv) {
    this.#child = spawn(process.execPath, [program], { env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#output = (this.#output + text).slice(-kept);
      });
    }
    // A daemon that cannot be started has ended.
    this.#ended = once(this.#child, "close").catch(() => {});
  }

  get isRunning(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The last line that it has printed. */
  get lastWords(): string {
    return this.#output.trim().split("\n").at(-1) || `its daemon has ended with exit code ${this.#child.exitCode}`;
  }

  /** Ends it when its drivers have left. */
  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    await this.#ended;
  }
}
