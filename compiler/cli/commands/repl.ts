/**
 * `viceroy repl`: the prompt of Node.js with top-level `await`, all exports of `viceroy`, and every generated module
 * under its name (`counter.CounterCodec`). The registry is loaded. Users import actor classes themselves. The prompt
 * reports unhandled failures and continues.
 */
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Config } from "../../config/index.js";
import { generatedFiles } from "../../output/index.js";
import { exitCode, type Io } from "../io.js";
import { nodeFlags, runProgram } from "./run.js";

export async function repl(config: Config, io: Io): Promise<number> {
  const flags = nodeFlags(path.join(config.root, config.file), config);
  if (typeof flags === "string") {
    io.err(flags);
    return exitCode.usage;
  }
  const modules = generatedFiles(config.root, config.out).filter((file) => !file.endsWith("/registry.ts"));
  if (modules.length === 0) {
    io.err(`cannot start: ${config.out} contains no generated code. Run \`npx viceroy compile\``);
    return exitCode.usage;
  }
  return runProgram(process.execPath, [...flags, "--input-type=module", "--eval", promptProgram(config, modules)]);
}

/**
 * Returns the program that opens the prompt. It runs in the folder of the config, so that `viceroy` is the project's
 * own installation.
 */
function promptProgram(config: Config, modules: readonly string[]): string {
  const names = modules.map((file) => [
    moduleVariable(config.out, file),
    pathToFileURL(path.join(config.root, file)).href,
  ]);
  const base = JSON.stringify(path.join(config.root, config.file));
  return `
import { start } from "node:repl";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
const viceroy = await import(pathToFileURL(createRequire(${base}).resolve("viceroy")).href);
const modules = ${JSON.stringify(names)};
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
