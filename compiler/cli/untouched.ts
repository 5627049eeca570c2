/**
 * The first file of the package `@viceroy/compiler` that `viceroy compile` loads: finds out whether there is anything
 * to do. It is built as one file without shared parts, because each further file takes a millisecond to load.
 */
import { nearestConfig } from "../config/find.js";
import { isUntouchedTree } from "../output/tree-state.js";
import { version } from "../version.js";

/**
 * Returns whether no file of the project in this folder has been touched since the last run.
 * @throws ConfigError if there is no config
 */
export function isUntouched(): boolean {
  return isUntouchedTree(nearestConfig(process.cwd()), version);
}
