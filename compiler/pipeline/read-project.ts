/** Reads the schemas of a project together with those of other packages that they import. */
import { ContractError, type ContractStore, ImportedSchemas } from "../contracts/index.js";
import type { Diagnostic } from "../diagnostics/index.js";
import type { Lock } from "../lock/index.js";
import { importedRoot } from "../model/imported-path.js";
import type { ImportedModule, Schema } from "../model/index.js";
import { readSchema, type SourceText, type TypeSource } from "../source/index.js";

export interface ReadProject {
  /** The schema of the project, without ids. */
  readonly schema: Schema;
  /** The schema files of other packages, with the ids of their locks. */
  readonly imported: readonly ImportedModule[];
  /** The locks of the other packages, by package. */
  readonly importedLocks: ReadonlyMap<string, Lock>;
  readonly diagnostics: readonly Diagnostic[];
}

/** @throws ContractError if the contract of another package cannot be read by this version */
export function readProject(
  texts: readonly SourceText[],
  packageName: string,
  source: TypeSource,
  store: ContractStore,
): ReadProject {
  const others = new ImportedSchemas(texts, store, (file, text) => source.outline(file, text));
  source.update([...texts, ...others.texts], others.imports);
  const read = readSchema(source, packageName, others.refused);
  const isOwn = ({ file }: Diagnostic) => !file.startsWith(importedRoot);
  // Warnings about other packages concern their authors. Errors are reported if a contract does not match.
  const diagnostics = read.diagnostics.filter(isOwn);
  const foreign = read.diagnostics.find((found) => !isOwn(found) && found.severity === "error");
  if (foreign !== undefined) {
    throw new ContractError(
      `this version of Viceroy cannot read ${foreign.file.slice(importedRoot.length)}: ${foreign.text}`,
      "Use the version of Viceroy that compiled that package, or compile it again with this version.",
    );
  }
  if (diagnostics.some(({ severity }) => severity === "error"))
    return { schema: read.schema, imported: [], importedLocks: new Map(), diagnostics };
  const { own, ...separated } = others.separate(read.schema);
  return { schema: own, ...separated, diagnostics };
}
