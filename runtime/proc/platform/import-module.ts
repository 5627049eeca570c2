/**
 * Imports modules of the user. This is the only file of the runtime with `import()`. The bundle leaves this file out
 * and uses `dist/load.cjs` instead, because code from V8's code cache has no connection to the module loader.
 */

/** @param url an absolute URL */
export function importModule(url: string): Promise<unknown> {
  return import(url);
}
