/** Loads ts-morph and the TypeScript in it, quickly where its parts are where we know them, plainly otherwise. */
import { createRequire } from "node:module";
import path from "node:path";
import type * as TsMorph from "ts-morph";
import { loadModule } from "./code-cache.js";

export type TsMorphModule = typeof TsMorph;
export type Compiler = typeof TsMorph.ts;

let loaded: TsMorphModule | undefined;

export function loadTsMorph(): TsMorphModule {
  loaded ??= loadCached() ?? (createRequire(import.meta.url)("ts-morph") as TsMorphModule);
  return loaded;
}

/** Its three files: TypeScript, `@ts-morph/common` and itself. Undefined: they are not laid out like this. */
function loadCached(): TsMorphModule | undefined {
  try {
    const morphFile = createRequire(import.meta.url).resolve("ts-morph");
    const requireOfMorph = createRequire(morphFile);
    const commonFile = requireOfMorph.resolve("@ts-morph/common");
    const requireOfCommon = createRequire(commonFile);
    const typescriptFile = path.join(path.dirname(commonFile), "typescript.js");
    const typescript = loadModule(typescriptFile, requireOfCommon);
    const isTypescript = (id: string) => id === "./typescript" || id === "./typescript.js";
    const common = loadModule(commonFile, (id) => (isTypescript(id) ? typescript : requireOfCommon(id)));
    return loadModule(morphFile, (id) => (id === "@ts-morph/common" ? common : requireOfMorph(id))) as TsMorphModule;
  } catch {
    return undefined;
  }
}
