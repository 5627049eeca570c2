/**
 * Finds and evaluates a config file. The caller passes the function that converts TypeScript to CommonJS, so that a
 * JavaScript config does not load the compiler. An import of `viceroy/compiler` is resolved here: the package need not
 * be installed for the config, and the import is cheap.
 */

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { compileFunction } from "node:vm";
import { errorMessage } from "../../shared/text/error-message.js";
import { type Config, ConfigError, defineConfig } from "./config.js";
import { validateConfig } from "./validate.js";

export const configNames = ["viceroy.config.ts", "viceroy.config.mts", "viceroy.config.js", "viceroy.config.mjs"];

/**
 * @returns the absolute path of the config file of `folder`
 * @throws ConfigError if there is none
 */
export function findConfig(folder: string): string {
  return configIn(folder) ?? refuseMissing(folder, "");
}

/**
 * @returns the absolute path of the nearest config file, in `folder` or in a folder above it
 * @throws ConfigError if there is none
 */
export function nearestConfig(folder: string): string {
  for (let at = folder; ; at = path.dirname(at)) {
    const found = configIn(at);
    if (found !== undefined) return found;
    if (at === path.dirname(at)) return refuseMissing(folder, " or above it");
  }
}

function configIn(folder: string): string | undefined {
  return configNames.map((name) => path.join(folder, name)).find((file) => existsSync(file));
}

function refuseMissing(folder: string, where: string): never {
  throw new ConfigError(
    `cannot find a config: no ${configNames[0]} in ${folder}${where}. Run \`npx viceroy init\` to write one, or change to the folder that contains it`,
  );
}

/** Converts the text of an ES module, in TypeScript or JavaScript, to CommonJS. */
export type Transpile = (file: string, text: string) => string;

/** @throws ConfigError if the file throws or does not export a valid config */
export function loadConfig(file: string, transpile: Transpile): Config {
  return evaluateConfig(file, readFileSync(file, "utf8"), transpile);
}

/**
 * @param file the path from which the imports of the text are resolved
 * @throws ConfigError if the text throws or does not export a valid config
 */
export function evaluateConfig(file: string, text: string, transpile: Transpile): Config {
  const name = path.basename(file);
  const module = { exports: {} as Record<string, unknown> };
  try {
    const run = compileFunction(transpile(file, text), ["exports", "require", "module", "__filename", "__dirname"], {
      filename: file,
    });
    run(module.exports, requireFor(file), module, file, path.dirname(file));
  } catch (error) {
    const why = errorMessage(error);
    throw new ConfigError(`cannot load ${name}: ${why}`, { cause: error });
  }
  return validateConfig(module.exports["default"], path.dirname(file), name);
}

function requireFor(file: string): (id: string) => unknown {
  const require = createRequire(file);
  return (id) => (id === "viceroy/compiler" ? { defineConfig } : require(id));
}
