/**
 * Finds the actor classes of a project: in its own files, with bases from its own generated code or that of other
 * packages, and in the packages that the config names.
 */
import { isBuiltin } from "node:module";
import path from "node:path";
import { type ActorImplementation, findActors, type ImportedActor } from "../actors/index.js";
import type { Config } from "../config/index.js";
import { ContractError, type ContractStore, ImportedBases, isPackage } from "../contracts/index.js";
import { type Diagnostic, diagnostic } from "../diagnostics/index.js";
import { generatedBases } from "../emit/index.js";
import type { Schema } from "../model/index.js";
import { matchingFiles } from "../output/index.js";
import type { TypeSource } from "../source/index.js";
import { readIfThere } from "./project-files.js";

export interface ProjectActors {
  readonly actors: readonly ActorImplementation[];
  readonly diagnostics: readonly Diagnostic[];
}

/** @param store the contracts of other packages */
export function findProjectActors(
  config: Config,
  schema: Schema,
  schemaRoot: string,
  source: TypeSource,
  store: ContractStore,
): ProjectActors {
  const { root, out } = config;
  const found = new Map<string, Diagnostic>();
  const bases = new ImportedBases(store);
  const ownBase = generatedBases(schema, { schemaRoot, out });
  const note = (report: Diagnostic) => found.set(`${report.code} ${report.file} ${report.text}`, report);
  const baseIn = (file: string, name: string, importer: string): ImportedActor | undefined => {
    try {
      return bases.find(path.join(root, file), name);
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
      const at = { file: importer, line: 1, column: 1 };
      note(diagnostic("VC1012", at, { file: importer, why: error.message, hint: error.hint }));
      return undefined;
    }
  };
  const resolve = (importer: string, specifier: string): string | undefined => {
    if (!isPackage(specifier) || isBuiltin(specifier)) return undefined;
    try {
      return path
        .relative(root, store.resolve(path.join(root, importer), specifier))
        .split(path.sep)
        .join("/");
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
      // Dependencies of other packages concern their authors.
      if (isOutside(importer)) return undefined;
      const at = { file: importer, line: 1, column: 1 };
      note(diagnostic("VC1013", at, { file: importer, why: error.message, hint: error.hint }));
      return undefined;
    }
  };
  const packages = config.actorPackages.flatMap((specifier) => {
    try {
      const file = store.resolve(path.join(root, config.file), specifier);
      return [{ specifier, path: path.relative(root, file).split(path.sep).join("/") }];
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
      note(unusable(config, specifier, error.message, error.hint));
      return [];
    }
  });
  const { actors, undecided } = findActors({
    files: matchingFiles(config, config.actors),
    read: (file) => (isOutside(file) ? store.read(path.join(root, file)) : readIfThere(path.join(root, file))),
    outline: (file, text) => source.outline(file, text),
    generatedBase: (file, name, importer) => ownBase(file, name) ?? baseIn(file, name, importer),
    resolvePackage: resolve,
    packages,
  });
  for (const { specifier } of packages) {
    if (actors.some((actor) => actor.specifier === specifier)) continue;
    const why = "it exports no class that extends a generated base class";
    note(unusable(config, specifier, why, "Export the actor classes from that module, or remove it from `actors`."));
  }
  for (const { path: file, name, line, column } of undecided) {
    note(diagnostic("VC1011", { file, line, column }, { name }));
  }
  return { actors, diagnostics: [...found.values()] };
}

function unusable({ file }: Config, name: string, why: string, hint: string): Diagnostic {
  return diagnostic("VC4002", { file, line: 1, column: 1 }, { name, why, hint });
}

function isOutside(file: string): boolean {
  return file.startsWith("../") || file.includes("node_modules/");
}
