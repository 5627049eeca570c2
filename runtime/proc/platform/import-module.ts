/**
 * Imports a module of the user's. The one place of the runtime that says `import()`: in the bundle this file is left
 * out and `dist/load.cjs` stands in for it, since code that V8 takes from a code cache has lost the way to the module
 * loader.
 */

/** @param url absolute */
export function importModule(url: string): Promise<unknown> {
  return import(url);
}
