/**
 * `viceroy run <script>`: runs a program with the registry of the project loaded. TypeScript is loaded with tsx if tsx
 * is installed for the script or for the config. The command exits with the exit code of the program.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Config } from "../../config/index.js";
import { exitCode, type Io } from "../io.js";

/** @param config undefined if the script is outside of any project; the script is run without a registry then */
export async function run(
  script: string,
  args: readonly string[],
  config: Config | undefined,
  io: Io,
): Promise<number> {
  const file = path.resolve(script);
  if (!existsSync(file)) {
    io.err(`cannot run ${script}: no such file`);
    return exitCode.usage;
  }
  const flags = nodeFlags(file, config);
  if (typeof flags === "string") {
    io.err(flags);
    return exitCode.usage;
  }
  return runProgram(process.execPath, [...flags, file, ...args]);
}

/** Returns the flags for Node.js, or the reason why Node.js cannot run the file. */
export function nodeFlags(file: string, config: Config | undefined): readonly string[] | string {
  const registry = config && registryOf(config);
  const needsLoader = [file, registry ?? ""].some((name) => /\.[cm]?tsx?$/.test(name));
  const flags: string[] = [];
  if (needsLoader) {
    const tsx = resolvePackage("tsx", [file, ...(config === undefined ? [] : [path.join(config.root, config.file)])]);
    if (tsx === undefined) {
      return `cannot run ${path.basename(file)}: running TypeScript needs tsx, which is not installed. Run \`npm install --save-dev tsx\``;
    }
    flags.push("--import", tsx);
  }
  if (registry !== undefined) flags.push("--import", pathToFileURL(registry).href);
  return flags;
}

/** Returns the registry of a compiled project. */
function registryOf(config: Config): string | undefined {
  const file = path.join(config.root, config.out, "registry.ts");
  return existsSync(file) ? file : undefined;
}

/** Returns whether a package can be imported from one of these files. */
export function isInstalled(name: string, from: readonly string[]): boolean {
  return resolvePackage(name, from) !== undefined;
}

function resolvePackage(name: string, from: readonly string[]): string | undefined {
  for (const file of from) {
    try {
      return pathToFileURL(createRequire(file).resolve(name)).href;
    } catch {
      // The package is not installed for this file.
    }
  }
  return undefined;
}

/**
 * Runs a program with the streams of this process and forwards signals. Returns the exit code, or 128 plus the number
 * of the signal that ended the program.
 */
export function runProgram(program: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit" });
    const forward = (signal: NodeJS.Signals) => child.kill(signal);
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
    for (const signal of signals) process.on(signal, forward);
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      for (const name of signals) process.off(name, forward);
      resolve(code ?? 128 + constants.signals[signal!]);
    });
  });
}
