/**
 * Loads the TypeScript compiler that ts-morph bundles. The file is loaded directly with a code cache if it is in the
 * known place, and through ts-morph otherwise. The other parts of ts-morph, which wrap the nodes of the compiler, are
 * not needed for reading.
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

/** Returns undefined if the files of ts-morph have another layout. */
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
