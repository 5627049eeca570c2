/** Runs commands where the hosts of a job are reached: on this machine, or on a login node over `ssh`. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import type { HeldLock } from "../../cache/file-lock.js";
import { taskMarkVariable } from "../../process-table.js";
import { quote } from "../quote.js";
import { adviceFor } from "../ssh/end-advice.js";
import { connectionOptions } from "../ssh/ssh-command.js";

/** Thrown when a command fails. The message contains the command's own words. */
export class LoginCommandError extends Error {
  override readonly name = "LoginCommandError";
  /** What the command has said. */
  readonly said: string;
  /** Whether the command has not run, because ssh has failed. */
  readonly isOfSsh: boolean;

  constructor(command: string, said: string, isOfSsh: boolean, options?: ErrorOptions) {
    super(`${command}: ${said}`, options);
    this.said = said;
    this.isOfSsh = isOfSsh;
  }
}

/** The exit code of ssh if it has not run the command. */
const sshFailed = 255;

/** Returns the command that runs another one on a login node. */
function onLogin(login: string, command: readonly string[]): string[] {
  return ["ssh", ...connectionOptions(), "--", login, command.map(quote).join(" ")];
}

export class LoginCommands {
  readonly #login: string | null;
  readonly #missing: string;

  /**
   * @param login the login node; null for this machine
   * @param missing the advice if this machine does not have a command
   */
  constructor(login: string | null, missing = "install it") {
    this.#login = login;
    this.#missing = missing;
  }

  /**
   * Runs a command.
   * @param input the text of its standard input
   * @param held a lock that is held until the command has ended, also if this program is killed
   * @returns what it prints
   * @throws LoginCommandError if it fails, or does not exist
   */
  async run(command: readonly string[], input = "", held?: HeldLock): Promise<string> {
    const [program] = command;
    // A login node may print a banner, which goes to standard error, or lines of the user's own shell profile.
    const through = this.#login === null ? command : onLogin(this.#login, command);
    // ssh closes the descriptors that it inherits. The shell keeps the one of the lock.
    const [file, ...args] = held === undefined ? through : ["sh", "-c", '"$@"; exit $?', "sh", ...through];
    const child = spawn(file!, args, {
      // A command that submits a job may give the environment to it.
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
      throw new LoginCommandError(name, advice === undefined ? said : `${said}; ${advice}`, isOfSsh);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
      const advice = this.#login === null ? this.#missing : "install ssh";
      throw new LoginCommandError(name, `there is no program ${through[0]} here; ${advice}`, false, { cause });
    }
  }
}
