/** Finds the config file of a folder. It does not load what evaluates the file, because an unchanged tree does not need it. */
import { existsSync } from "node:fs";
import path from "node:path";
import { ConfigError } from "./config.js";

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
