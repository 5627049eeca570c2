/**
 * `viceroy run <script>`: runs a program with the project's registry loaded. TypeScript needs a loader: tsx, when it is
 * installed beside the script or the config. Ends with the program's own exit code.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Config } from "../../config/index.js";
import { exitCode, type Io } from "../io.js";

/** @param config undefined when the script stands outside any project: it is run all the same */
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

/** Flags for Node.js, or what keeps it from running TypeScript. */
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

/** The registry of a project that has been compiled. */
function registryOf(config: Config): string | undefined {
  const file = path.join(config.root, config.out, "registry.ts");
  return existsSync(file) ? file : undefined;
}

/** Whether a package can be imported from one of these files. */
export function isInstalled(name: string, from: readonly string[]): boolean {
  return resolvePackage(name, from) !== undefined;
}

function resolvePackage(name: string, from: readonly string[]): string | undefined {
  for (const file of from) {
    try {
      return pathToFileURL(createRequire(file).resolve(name)).href;
    } catch {
      // Not beside this one.
    }
  }
  return undefined;
}

/** Runs a program with our own streams; signals reach it as they reach us. 128 and the signal's number when one ended it. */
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
