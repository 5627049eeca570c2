/**
 * Loads the TypeScript that ts-morph brings along: the file itself, with a code cache, where it is where we know it; through
 * ts-morph otherwise. The rest of ts-morph, its wrappers around the compiler's nodes, is loaded by nobody who only reads.
 */
import { createRequire } from "node:module";
import path from "node:path";
import type * as TsMorph from "ts-morph";
import { loadModule } from "./code-cache.js";

export type Compiler = typeof TsMorph.ts;

let loaded: Compiler | undefined;

export function loadCompiler(): Compiler {
  loaded ??= loadCached() ?? (createRequire(import.meta.url)("ts-morph") as typeof TsMorph).ts;
  return loaded;
}

/** Undefined: ts-morph is not laid out like this. */
function loadCached(): Compiler | undefined {
  try {
    const requireOfMorph = createRequire(createRequire(import.meta.url).resolve("ts-morph"));
    const commonFile = requireOfMorph.resolve("@ts-morph/common");
    const file = path.join(path.dirname(commonFile), "typescript.js");
    const compiler = loadModule(file, createRequire(file)) as Partial<Compiler>;
    return compiler.createProgram === undefined ? undefined : (compiler as Compiler);
  } catch {
    return undefined;
  }
}
