/**
 * Selects the script that child processes and threads run: the boot file of the package, or the program itself, if it
 * contains all of its modules in one file.
 */
import { realpathSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isInlined } from "../../inlined.js";

/** The place of a program that is a part of the executable of Node.js. */
export const singleExecutable = Symbol("single executable application");

/** The boot file lies beside the bundle of the runtime. */
const bootFile = isInlined ? undefined : fileURLToPath(new URL("./boot.cjs", import.meta.url));

let startsThroughRunProgram = false;

/** Records that the program starts by `runProgram`, so that a child process that runs its file becomes a child. */
export function allowProgramAsBootScript(): void {
  startsThroughRunProgram = true;
}

/**
 * @param registries the URLs of the registries that child processes load
 * @throws Error if child processes would run the whole program
 */
export function bootScript(registries: readonly string[]): string | typeof singleExecutable {
  const program = programFile();
  const own = program === undefined ? undefined : pathToFileURL(program).href;
  const holdsRegistry = registries.some((url) => url === own);
  if (bootFile !== undefined && !holdsRegistry) return bootFile;
  if (startsThroughRunProgram && program !== undefined) return isExecutable(program) ? singleExecutable : program;
  const why = holdsRegistry
    ? "the generated registry is a part of the program's own file, so every process would run the whole program; " +
      "make generated/registry.ts an entry of its own in the bundler, or start the program by runProgram"
    : "the runtime was copied into a bundle, so processes start from the program's own file; start the program by " +
      'runProgram, or leave "viceroy" out of the bundle';
  throw new Error(`cannot start a process: ${why}, got ${program ?? "no program file"}`);
}

let knownProgram: string | undefined;

/** Returns the path of the main script, or undefined if there is none, as with `--eval`. */
function programFile(): string | undefined {
  if (knownProgram !== undefined) return knownProgram;
  try {
    knownProgram = realpathSync(process.argv[1] ?? "");
  } catch {
    // The first argument is not a file.
  }
  return knownProgram;
}

/** In a single executable application, the executable is also the first argument. */
function isExecutable(program: string): boolean {
  return program === realpathSync(process.execPath);
}
