/**
 * Imports modules of the user, for all code in the bundle of the runtime. The bundle leaves this file out and uses
 * `dist/load.cjs` instead, because code from V8's code cache has no connection to the module loader.
 */

/** What a child process has installed that loads prepared modules (`runtime/bundle/typescript/mirror.ts`). */
interface Mirror {
  locate(url: string): string;
}

/** @param url an absolute URL */
export function importModule(url: string): Promise<unknown> {
  const mirror = (globalThis as { [key: symbol]: unknown })[Symbol.for("viceroy.typescript")] as Mirror | undefined;
  return import(mirror?.locate(url) ?? url);
}
