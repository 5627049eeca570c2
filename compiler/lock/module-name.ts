/** `schemas/counter.ts` -> `schemas/counter`: how the lock names a schema file. */
export function moduleName(path: string): string {
  return path.replace(/(\.d)?\.[cm]?tsx?$/, "");
}
