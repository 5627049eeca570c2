/** The prepared modules of this process, if its program runs with tsx (`runtime/bundle/typescript/mirror.ts`). */

/** The key in `globalThis` under which a process that has prepared modules finds them. */
export const mirrorKey = Symbol.for("viceroy.typescript");

export interface PreparedModules {
  /** Returns the URL from which a module of the program is loaded. */
  locate(url: string): string;
  /** Imports a module by its URL for the runtime. A module that was not prepared is loaded by tsx. */
  importForRuntime(url: string): Promise<unknown>;
}

export function preparedModules(): PreparedModules | undefined {
  return (globalThis as { [key: symbol]: unknown })[mirrorKey] as PreparedModules | undefined;
}
