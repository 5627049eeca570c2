/**
 * The program that `viceroy job <command>` starts, with the loader of the user's module. Its arguments are the command,
 * the file of the module, the name of its export, and the options as JSON. `list` has no module.
 */
import { errorMessage } from "../../../shared/text/error-message.js";
import { lookOnly } from "../job.js";
import type { JobCommandOptions } from "./command-options.js";
import { jobCommands } from "./commands.js";
import { list } from "./list.js";
import { loadJob } from "./load-job.js";

/** The exit code for what the user must change. */
const usage = 3;

const [command = "", file = "", name = "default", options = "{}"] = process.argv.slice(2);
const output = {
  out: (line: string) => void process.stdout.write(`${line}\n`),
  err: (line: string) => void process.stderr.write(`${line}\n`),
};
// The reader of the output may go away, as `head` does.
for (const stream of [process.stdout, process.stderr]) stream.once("error", () => process.exit());
try {
  const given = JSON.parse(options) as JobCommandOptions;
  if (command === "list") process.exitCode = await list(given, output);
  else {
    const job = await loadJob(file, name);
    if (given.readOnly === true) lookOnly(job);
    process.exitCode = await jobCommands[command]!(job, given, output);
  }
} catch (error) {
  output.err(errorMessage(error));
  process.exitCode = usage;
}
