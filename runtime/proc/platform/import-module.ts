/**
 * Imports modules of the user, for all code in the bundle of the runtime. The bundle leaves this file out and uses
 * `dist/load.cjs` instead, because code from V8's code cache has no connection to the module loader.
 */

import { preparedModules } from "./prepared-modules.js";

/** @param url an absolute URL */
export function importModule(url: string): Promise<unknown> {
  return import(preparedModules()?.locate(url) ?? url);
}
