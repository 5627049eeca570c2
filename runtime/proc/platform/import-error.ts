/** Explains errors of importing the user's modules that Node.js reports without the remedy. */

import { preparedModules } from "./prepared-modules.js";

const typescriptFile = /\.[cm]?tsx?$/;

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
