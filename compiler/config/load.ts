/**
 * Evaluates a config file. The caller passes the function that converts TypeScript to CommonJS, so that a JavaScript
 * config does not load the compiler. An import of `viceroy/compiler` is resolved here: the package need not be
 * installed for the config, and the import is cheap.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { compileFunction } from "node:vm";
import { errorMessage } from "../../shared/text/error-message.js";
import { type Config, ConfigError, defineConfig } from "./config.js";
import { validateConfig } from "./validate.js";

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
