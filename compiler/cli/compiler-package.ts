/**
 * Finds the package `@viceroy/compiler`, which production does not need. It is searched from the current folder, where
 * users install it, and from this package, because both can be installed globally.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { version } from "../version.js";

/** The exports of `@viceroy/compiler`. */
export type CompilerCommands = typeof import("./compiler-commands.js");

export const compilerPackage = "@viceroy/compiler";

/** Thrown when a command requires `@viceroy/compiler` and it is missing or of another version. */
export class CompilerPackageError extends Error {
  override readonly name = "CompilerPackageError";
}

/**
 * @param command the command that needs the compiler, for the error text: `lock merge`
 * @throws CompilerPackageError if the compiler is missing or of another version
 */
export async function loadCompiler(command: string): Promise<CompilerCommands> {
  const found = await findCompiler(command);
  if (found !== undefined) return found;
  throw new CompilerPackageError(
    `cannot run viceroy ${command}: it requires the package ${compilerPackage}, which is not installed for ` +
      `${process.cwd()}. Run \`npm install --save-dev ${compilerPackage}\``,
  );
}

/**
 * Returns the compiler, or undefined if it is not installed.
 * @throws CompilerPackageError if it is of another version
 */
export async function findCompiler(command: string): Promise<CompilerCommands | undefined> {
  const folder = findFolder(command);
  return folder === undefined ? undefined : import(pathToFileURL(path.join(folder, "dist/commands.js")).href);
}

/**
 * Returns whether `viceroy compile` has nothing to do, as far as can be told without loading the commands.
 * @throws CompilerPackageError if the compiler is of another version; ConfigError if there is no config
 */
export function isUntouched(): boolean {
  const folder = findFolder("compile");
  if (folder === undefined) return false;
  const compiler = createRequire(import.meta.url)(path.join(folder, "dist/untouched.cjs")) as Untouched;
  return compiler.isUntouched();
}

type Untouched = typeof import("./untouched.js");

/** Returns the folder of the compiler. */
function findFolder(command: string): string | undefined {
  const file = manifestFile();
  if (file === undefined) return undefined;
  const { version: found } = JSON.parse(readFileSync(file, "utf8")) as { readonly version: string };
  if (found !== version) {
    throw new CompilerPackageError(
      `cannot run viceroy ${command}: viceroy ${version} requires ${compilerPackage} ${version}, got ${found} in ` +
        `${path.dirname(file)}. Run \`npm install --save-dev ${compilerPackage}@${version}\``,
    );
  }
  return path.dirname(file);
}

/** Returns the path of the package.json of the compiler. */
function manifestFile(): string | undefined {
  for (const from of [path.join(process.cwd(), "package.json"), fileURLToPath(import.meta.url)]) {
    try {
      return createRequire(from).resolve(`${compilerPackage}/package.json`);
    } catch {
      // The package is not installed for this file.
    }
  }
  return undefined;
}
