/**
 * Finds and runs a config file. It may be TypeScript: the caller gives the function that turns it into CommonJS, so that
 * nothing is loaded for it that isn't needed. `viceroy/compiler` in it is answered from here: the package need not be
 * installed beside the config, and importing it costs nothing.
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
 * @throws ConfigError when there is none
 */
export function findConfig(folder: string): string {
  return configIn(folder) ?? refuseMissing(folder, "");
}

/**
 * @returns the absolute path of the config file of the project that `folder` lies in: its own, or the nearest above it
 * @throws ConfigError when there is none
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
    `cannot find a config: no ${configNames[0]} in ${folder}${where}. Run \`npx viceroy init\` to write one, or change to the folder that holds it`,
  );
}

/** From the text of an ES module, in TypeScript or not, to CommonJS. */
export type Transpile = (file: string, text: string) => string;

/** @throws ConfigError when the file throws, or what it exports is no config */
export function loadConfig(file: string, transpile: Transpile): Config {
  return evaluateConfig(file, readFileSync(file, "utf8"), transpile);
}

/**
 * @param file where it stands, or stood when `text` was in it: what it imports is looked for from there
 * @throws ConfigError when the text throws, or what it exports is no config
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
