/** Returns the name of a schema file in the lock: `schemas/counter.ts` -> `schemas/counter`. */
export function moduleName(path: string): string {
  return path.replace(/(\.d)?\.[cm]?tsx?$/, "");
}
