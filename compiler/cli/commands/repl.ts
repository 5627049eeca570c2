/**
 * `viceroy repl`: the prompt of Node.js with top-level `await`, all exports of `viceroy`, and every generated module
 * under its name (`counter.CounterCodec`). The registry is loaded. Users import actor classes themselves. The prompt
 * reports unhandled failures and continues. With `--job`, the program of `viceroy job` opens a prompt with the job
 * attached.
 */
import { existsSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Config } from "../../config/index.js";
import { generatedFiles } from "../../output/index.js";
import { exitCode, type Io } from "../io.js";
import { type JobOptions, jobProgram } from "./job.js";
import { nodeFlags, runProgram } from "./run.js";

/** The name of the variable of a generated module, and its URL. */
type NamedModule = readonly [string, string];

export async function repl(config: Config, io: Io): Promise<number> {
  const flags = nodeFlags(path.join(config.root, config.file), config);
  if (typeof flags === "string") {
    io.err(flags);
    return exitCode.usage;
  }
  const modules = namedModules(config);
  if (modules.length === 0) {
    io.err(`cannot start: ${config.out} contains no generated code. Run \`npx viceroy compile\``);
    return exitCode.usage;
  }
  return runProgram(process.execPath, [...flags, "--input-type=module", "--eval", promptProgram(config, modules)]);
}

/**
 * Opens the prompt of a job, or runs the script that is piped in.
 * @param config undefined if the module of the job is outside of any project; no generated code is loaded then
 */
export async function jobRepl(
  { job: source, export: name, readOnly = false }: Pick<JobOptions, "job" | "export" | "readOnly">,
  config: Config | undefined,
  io: Io,
): Promise<number> {
  const file = path.resolve(source);
  if (!existsSync(file)) {
    io.err(`cannot use ${source}: no such file`);
    return exitCode.usage;
  }
  const flags = nodeFlags(file, config);
  if (typeof flags === "string") {
    io.err(flags);
    return exitCode.usage;
  }
  const modules = config === undefined ? [] : namedModules(config);
  const options = JSON.stringify({ source, modules, readOnly });
  return runProgram(process.execPath, [...flags, jobProgram, "repl", file, name, options]);
}

function namedModules(config: Config): readonly NamedModule[] {
  const files = generatedFiles(config.root, config.out).filter((file) => !file.endsWith("/registry.ts"));
  return files.map((file) => [moduleVariable(config.out, file), pathToFileURL(path.join(config.root, file)).href]);
}

/**
 * Returns the program that opens the prompt. It runs in the folder of the config, so that `viceroy` is the project's
 * own installation.
 */
function promptProgram(config: Config, modules: readonly NamedModule[]): string {
  const base = JSON.stringify(path.join(config.root, config.file));
  return `
import { start } from "node:repl";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
const viceroy = await import(pathToFileURL(createRequire(${base}).resolve("viceroy")).href);
const modules = ${JSON.stringify(modules)};
console.log("viceroy: " + Object.keys(viceroy).filter((name) => /^[a-z]/.test(name)).slice(0, 6).join(", ") + ", …");
console.log("generated: " + modules.map(([name]) => name).join(", "));
const prompt = start({ prompt: "viceroy> ", breakEvalOnSigint: true });
Object.assign(prompt.context, viceroy);
// The user at the prompt decides how to continue after a failure.
viceroy.onUnhandledFault((failure) => {
  console.error("\\nunhandled fault: " + failure.report());
  prompt.displayPrompt(true);
});
for (const [name, url] of modules) prompt.context[name] = await import(url);
prompt.on("exit", () => process.exit());
`;
}

/** Returns the variable name of a generated module: `generated/a/my-store.ts` -> `a_myStore`. */
export function moduleVariable(out: string, file: string): string {
  const stem = file.slice(out.length + 1).replace(/\.ts$/, "");
  const camel = stem.replace(/[^A-Za-z0-9/]+(.)?/g, (_, next: string | undefined) => (next ?? "").toUpperCase());
  return camel.replaceAll("/", "_").replace(/^(\d)/, "_$1");
}
