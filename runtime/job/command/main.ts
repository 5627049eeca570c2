/**
 * The program that `viceroy job <command>` starts, with the loader of the user's module. Its arguments are the command,
 * the file of the module, the name of its export, and the options as JSON.
 */
import { errorMessage } from "../../../shared/text/error-message.js";
import type { JobCommandOptions } from "./command-options.js";
import { jobCommands } from "./commands.js";
import { loadJob } from "./load-job.js";

/** The exit code for what the user must change. */
const usage = 3;

const [command = "", file = "", name = "default", options = "{}"] = process.argv.slice(2);
const output = {
  out: (line: string) => void process.stdout.write(`${line}\n`),
  err: (line: string) => void process.stderr.write(`${line}\n`),
};
try {
  const job = await loadJob(file, name);
  process.exitCode = await jobCommands[command]!(job, JSON.parse(options) as JobCommandOptions, output);
} catch (error) {
  output.err(errorMessage(error));
  process.exitCode = usage;
}
