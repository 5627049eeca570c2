/**
 * Decides with which extension generated code imports TypeScript files, if the config does not say: as the files of the
 * project do.
 */
import type { Config } from "../config/index.js";
import { readImportSettings } from "../source/index.js";

export interface ImportExtensionChoice {
  readonly extension: ".js" | ".ts";
  /** The absolute paths of the settings on which the choice depends, besides the config and the actors. */
  readonly settings: readonly string[];
}

/** Matches an import of a TypeScript file by its own extension. `.d.ts` files can be imported in every project. */
const typeScriptImport = /(?:\bfrom|\bimport)\s*\(?\s*["']\.{1,2}\/(?:[^"'\n]*\/)?[^"'\n/]*(?<!\.d)\.[cm]?tsx?["']/;

/** @param actorTexts the texts of the files that match `actors` */
export function chooseImportExtension(
  { root, importExtension }: Pick<Config, "root" | "importExtension">,
  actorTexts: () => Iterable<string>,
): ImportExtensionChoice {
  if (importExtension !== undefined) return { extension: importExtension, settings: [] };
  const { allowsTypeScript, files } = readImportSettings(root);
  if (allowsTypeScript) return { extension: ".ts", settings: files };
  for (const text of actorTexts()) if (typeScriptImport.test(text)) return { extension: ".ts", settings: files };
  return { extension: ".js", settings: files };
}
