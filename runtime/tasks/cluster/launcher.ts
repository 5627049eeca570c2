/**
 * The program that runs the entry point of a job with npm packages: it installs the packages on the host, and starts the
 * command. Its arguments are the path of the environment and the command.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import type { TaskEnvironment } from "../../../generated/tasks.js";
import { errorMessage } from "../../../shared/text/error-message.js";
import { prepareEnvironment } from "../environment/prepare-environment.js";

/** The exit codes of a command that could not be prepared, and of one that could not be started, as shells have them. */
const notPreparedCode = 126;
const notStartedCode = 127;

const [file = "", program = "", ...args] = process.argv.slice(2);

function fail(error: unknown, code: number): never {
  process.stderr.write(`viceroy: ${errorMessage(error)}\n`);
  process.exit(code);
}

async function preparedEnv(): Promise<Record<string, string>> {
  try {
    return await prepareEnvironment(JSON.parse(readFileSync(file, "utf8")) as TaskEnvironment);
  } catch (error) {
    fail(error, notPreparedCode);
  }
}

const child = spawn(program, args, { stdio: "inherit", env: { ...process.env, ...(await preparedEnv()) } });
// The end of the job is the command's to handle.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
child.once("error", (error) => fail(error, notStartedCode));
child.once("exit", (code, signal) => {
  process.exitCode = code ?? 128 + constants.signals[signal!];
});
