/**
 * `viceroy repl --job`: a prompt, or a script that is piped in, with a running job attached. The job is never submitted, and
 * goes on when the prompt ends.
 */
import { attach } from "../../attach.js";
import type { Job } from "../../job.js";
import type { CommandOutput, JobCommandOptions } from "../command-options.js";
import { bannerOf } from "./banner.js";
import { namesOf } from "./names.js";
import { runPrompt } from "./prompt.js";
import { runScript } from "./script.js";

/** The exit code if nothing of the job runs. */
const nothingRuns = 1;

export async function repl(job: Job, options: JobCommandOptions, output: CommandOutput): Promise<number> {
  if ((await job.find()) === undefined) {
    const advice = `submit it by "viceroy job apply --job ${options.source}"`;
    output.err(`cannot attach job "${job.name}": nothing of it runs; ${advice}`);
    return nothingRuns;
  }
  const hosts = await attach(job, { readOnly: options.readOnly === true });
  const names = await namesOf(job, hosts, options.modules ?? []);
  // The standard output is for the results alone.
  output.err(await bannerOf(job, names, options.readOnly === true));
  const { stdin } = process;
  const code = stdin.isTTY ? await runPrompt(names) : await runScript(names, stdin, output);
  await Promise.all(Object.keys(job.meshes).map((mesh) => hosts[mesh]!.stop()));
  // Whatever the user has begun, such as a timer, ends with the prompt.
  await new Promise((written) => process.stdout.write("", written));
  process.exit(code);
}
