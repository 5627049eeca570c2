/** Explains errors of importing modules that Node.js reports without the remedy. */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { version } from "../../version.js";
import { preparedModules } from "./prepared-modules.js";
import { locateModule, ownScheme } from "./program-places.js";

const typescriptFile = /\.[cm]?tsx?$/;

/**
 * Returns the error to report for a module of Viceroy itself that could not be imported. Hosts are installed separately, and an installation
 * may be incomplete.
 *
 * @param url the URL of the module: `viceroy:sync.mjs`
 */
export function explainOwnModule(error: unknown, url: string): unknown {
  const file = locateModule(url);
  if (existsSync(new URL(file))) return error;
  const name = url.slice(ownScheme.length);
  return new Error(
    `cannot load ${name} of Viceroy ${version}: expected ${fileURLToPath(file)}, which the installation on this machine ` +
      "does not have; install viceroy again",
    { cause: error },
  );
}

/**
 * Returns the error to report for a failed import. Old versions of Node.js do not run TypeScript, and their error names
 * only the extension of the file. All other errors are returned as they are.
 * @param what the module or the actor that was to be loaded
 */
export function explainImportError(error: unknown, what: string): unknown {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  if (code !== "ERR_UNKNOWN_FILE_EXTENSION") return error;
  const file = / for (\S+)$/.exec(String(message))?.[1];
  if (file === undefined || !typescriptFile.test(file)) return error;
  if (preparedModules() !== undefined) {
    return new Error(
      `cannot load ${what}: a package imports a TypeScript module by itself, which needs tsx in each process; spawn the ` +
        `processes with the option execArgv: ["--import", "tsx"], got ${file}`,
      { cause: error },
    );
  }
  return new Error(
    `cannot load ${what}: Node.js ${process.version} does not run TypeScript; run all processes with Node.js 22.18 ` +
      `or newer, install tsx, or compile the program, got ${file}`,
    { cause: error },
  );
}
