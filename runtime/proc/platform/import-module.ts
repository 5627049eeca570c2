/**
 * Imports modules of the user, for all code in the bundle of the runtime. The bundle leaves this file out and uses
 * `dist/load.cjs` instead, because code from V8's code cache has no connection to the module loader.
 */

import { preparedModules } from "./prepared-modules.js";

/**
 * Imports a module of the program.
 *
 * @param url an absolute URL
 * @hidden
 */
export function importModule(url: string): Promise<unknown> {
  return preparedModules()?.importForRuntime(url) ?? import(url);
}
