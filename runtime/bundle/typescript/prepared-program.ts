/** Describes the program of the parameters of `register.js`, and has it prepared by one process if it is out of date. */
import type { ChildProcess } from "node:child_process";
import { basename, dirname, join } from "node:path";
import { makePrivateDirectory } from "../../cache/private-files.js";
import { packagesVariable } from "../../tasks/environment/preload/variables.js";
import { type Manifest, manifestFile, type ProgramSource, readProgram } from "./program.js";
import { takeTurn } from "./turn.js";

/** The surroundings in which a program is prepared. */
export interface PrepareSurroundings {
  /** The options by which Node.js finds modules. */
  readonly options: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Returns the program of this process, or of its child processes.
 * @param parameters the parameters of the URL of `register.js`
 * @param options the options by which Node.js finds modules
 * @param script the path of `prepare.js`
 */
export function programOf(parameters: URLSearchParams, options: readonly string[], script: string): ProgramSource {
  // Prepared modules name the files of packages, which differ between runtime environments.
  const packages = process.env[packagesVariable] ?? "";
  return {
    roots: parameters.getAll("root"),
    tsx: parameters.get("tsx") ?? "",
    identity: [parameters.get("versions"), process.version, ...options, packages].join(" "),
    script,
    tsconfig: process.env["TSX_TSCONFIG_PATH"] || undefined,
    folder: process.cwd(),
  };
}

/** Returns the options by which Node.js finds modules. All others, such as those for profiles, concern one process alone. */
export function resolutionOptions(execArgv: readonly string[]): string[] {
  return execArgv.filter(
    (option, i) =>
      /^(?:--conditions|-C|--preserve-symlinks)/.test(option) || /^(?:--conditions|-C)$/.test(execArgv[i - 1] ?? ""),
  );
}

/** Returns the prepared program, which one process prepares if it is out of date; undefined if it cannot be stored. */
export async function preparedProgram(
  program: ProgramSource,
  surroundings: PrepareSurroundings,
): Promise<Manifest | undefined> {
  const file = manifestFile(program);
  const known = readProgram(file);
  if (known !== undefined) return known;
  if (!makePrivateDirectory(dirname(file))) return undefined;
  const turn = join(dirname(file), `${basename(file, ".json")}.turn`);
  await takeTurn(turn, async () => {
    // Another process may have prepared the program before this one had its turn.
    if (readProgram(file) === undefined) await runPrepare(program, surroundings);
  });
  return readProgram(file);
}

/** Runs `prepare.js` with tsx, and waits until it has ended. */
async function runPrepare(program: ProgramSource, { options, env }: PrepareSurroundings): Promise<void> {
  const { spawn } = await import("node:child_process");
  const loader = ["--experimental-import-meta-resolve", "--import", `${program.tsx}dist/loader.mjs`];
  const argv = [...options, ...loader, program.script];
  await new Promise<void>((resolve) => {
    const child: ChildProcess = spawn(process.execPath, argv, { env, stdio: ["pipe", "ignore", "ignore"] });
    child.once("error", () => resolve());
    child.once("exit", () => resolve());
    // The process may have ended before it has read everything.
    child.stdin?.on("error", () => {});
    child.stdin?.end(JSON.stringify(program));
  });
}
