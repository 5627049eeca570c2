/** Runs the commands of Slurm, on this machine or on a login node over `ssh`. Only their portable text output is read. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import type { HeldLock } from "../../cache/file-lock.js";
import { taskMarkVariable } from "../../process-table.js";
import { quote } from "../quote.js";
import { adviceFor } from "../ssh/end-advice.js";
import { connectionOptions } from "../ssh/ssh-command.js";

/** Thrown when a command of Slurm fails. The message contains the command's own words. */
export class SlurmCommandError extends Error {
  override readonly name = "SlurmCommandError";
  /** What the command has said. */
  readonly said: string;
  readonly #isOfSsh: boolean;

  /** @param isOfSsh whether the command has not run, because ssh has failed */
  constructor(command: string, said: string, isOfSsh: boolean, options?: ErrorOptions) {
    super(`${command}: ${said}`, options);
    this.said = said;
    this.#isOfSsh = isOfSsh;
  }

  /** Whether the controller or the login node does not answer, which passes. */
  get isTransient(): boolean {
    if (this.#isOfSsh) return true;
    return /unable to contact slurm controller|connection (?:refused|timed out|reset)|socket timed out|zero bytes/i.test(
      this.said,
    );
  }
}

/** The exit code of ssh if it has not run the command. */
const sshFailed = 255;

/** Returns the command that runs another one on a login node. */
function onLogin(login: string, command: readonly string[]): string[] {
  return ["ssh", ...connectionOptions(), "--", login, command.map(quote).join(" ")];
}

export class SlurmCommands {
  readonly #login: string | null;

  /** @param login the login node; null for this machine */
  constructor(login: string | null) {
    this.#login = login;
  }

  /**
   * Runs a command.
   * @param input the text of its standard input
   * @param held a lock that is held until the command has ended, also if this program is killed
   * @returns what it prints
   * @throws SlurmCommandError if it fails, or does not exist
   */
  async run(command: readonly string[], input = "", held?: HeldLock): Promise<string> {
    const [program] = command;
    // A login node may print a banner, which goes to standard error, or lines of the user's own shell profile.
    const through = this.#login === null ? command : onLogin(this.#login, command);
    // ssh closes the descriptors that it inherits. The shell keeps the one of the lock.
    const [file, ...args] = held === undefined ? through : ["sh", "-c", '"$@"; exit $?', "sh", ...through];
    const child = spawn(file!, args, {
      // Slurm gives the environment to its jobs.
      env: { ...process.env, [taskMarkVariable]: undefined },
      stdio: ["pipe", "pipe", "pipe", ...(held === undefined ? [] : [held.descriptor])],
    }) as ChildProcessWithoutNullStreams;
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once("error", reject).once("close", resolve);
    });
    const name = this.#login === null ? program! : `${program} on ${this.#login}`;
    try {
      const [out, complaint, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
      if (code === 0) return out;
      const said = complaint.trim() || out.trim() || `it ended with exit code ${code}`;
      const isOfSsh = this.#login !== null && code === sshFailed;
      const advice = isOfSsh ? adviceFor(said, this.#login) : undefined;
      throw new SlurmCommandError(name, advice === undefined ? said : `${said}; ${advice}`, isOfSsh);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
      const advice =
        this.#login === null
          ? "install Slurm's client programs, or name a login node with the option login"
          : "install ssh";
      throw new SlurmCommandError(name, `there is no program ${through[0]} here; ${advice}`, false, { cause });
    }
  }
}
