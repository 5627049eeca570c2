/**
 * Reads the config of a project for commands that run programs. With `@viceroy/compiler`, its cached state is used.
 * Without it, Node.js imports the file: directly if it is JavaScript or Node.js strips types, and with tsx otherwise.
 */
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { errorMessage } from "../../shared/text/error-message.js";
import { type Config, ConfigError, nearestConfig, validateConfig } from "../config/index.js";
import { compilerPackage, findCompiler } from "./compiler-package.js";

/**
 * Returns the config, or undefined outside of any project.
 * @param command the command that needs the config, for error texts
 * @throws ConfigError if the config is invalid; CompilerPackageError if the compiler is of another version
 */
export async function configIfAny(command: string): Promise<Config | undefined> {
  try {
    nearestConfig(process.cwd());
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
  return configOfProject(command);
}

/** @throws ConfigError if there is none, or it is invalid; CompilerPackageError if the compiler is of another version */
export async function configOfProject(command: string): Promise<Config> {
  const file = nearestConfig(process.cwd());
  const compiler = await findCompiler(command);
  return compiler === undefined ? importConfig(file) : compiler.projectConfig();
}

async function importConfig(file: string): Promise<Config> {
  const name = path.basename(file);
  const load = importerOf(file);
  let module: { readonly default?: unknown };
  try {
    module = await load(pathToFileURL(file).href);
  } catch (error) {
    throw new ConfigError(`cannot load ${name}: ${errorMessage(error)}`, { cause: error });
  }
  return validateConfig(module.default, path.dirname(file), name);
}

/** The property `typescript` is new in Node.js 22.10. */
const { typescript: stripsTypes } = process.features as { readonly typescript?: unknown };

function importerOf(file: string): (url: string) => Promise<{ readonly default?: unknown }> {
  if (!/\.m?ts$/.test(file) || stripsTypes) return (url) => import(url);
  const require = createRequire(file);
  let api: TsxApi;
  try {
    // The interface for CommonJS also loads files with the syntax of ES modules, and leaves no loader behind.
    api = require("tsx/cjs/api") as TsxApi;
  } catch {
    throw new ConfigError(
      `cannot load ${path.basename(file)}: reading TypeScript needs ${compilerPackage}, tsx or Node.js 22.18, and none ` +
        `of them is there. Run \`npm install --save-dev ${compilerPackage}\`, or leave the file out of production`,
    );
  }
  return async () => api.require(file, file);
}

interface TsxApi {
  require(file: string, from: string): { readonly default?: unknown };
}
