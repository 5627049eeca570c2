/** Reads the schema files of a project: from a type source to the schema model and everything that is wrong with it. */
import { type Diagnostic, diagnostic, sortDiagnostics } from "../../diagnostics/index.js";
import type { Schema } from "../../model/index.js";
import type { SourceProblem, TypeSource } from "../type-source.js";
import { vocabularyNames } from "./builtins.js";
import { checkSchema } from "./checks.js";
import { ReadContext } from "./context.js";
import { SchemaReader } from "./reader.js";

export interface ReadSchema {
  /** Without ids. Not to be used any further when there is an error among the diagnostics. */
  readonly schema: Schema;
  readonly diagnostics: readonly Diagnostic[];
}

/** @param source updated with the texts of all schema files */
export function readSchema(source: TypeSource, packageName: string): ReadSchema {
  const context = new ReadContext(source);
  for (const problem of source.problems()) reportProblem(problem, context);
  const schema: Schema = { package: packageName, modules: new SchemaReader(context).read() };
  const found = context.diagnostics;
  if (!found.some(({ severity }) => severity === "error")) found.push(...checkSchema(schema));
  return { schema, diagnostics: sortDiagnostics(found) };
}

function reportProblem(problem: SourceProblem, context: ReadContext): void {
  const { kind, file, message, number } = problem;
  const at = context.position(file, problem.start);
  const report = (found: Diagnostic) => context.diagnostics.push(found);
  if (kind === "syntax") report(diagnostic("VC1001", at, { message }));
  else if (kind === "type") {
    const name = /^Cannot find name '(\w+)'/.exec(message)?.[1] ?? "";
    if (vocabularyNames.has(name)) report(diagnostic("VC1006", at, { name }));
    else report(diagnostic("VC1002", at, { message, number }));
  } else if (problem.target !== undefined) {
    report(diagnostic("VC1004", at, { specifier: message, file: problem.target }));
  } else if (/^\.\.?(\/|$)/.test(message)) report(diagnostic("VC1003", at, { specifier: message }));
  else report(diagnostic("VC1005", at, { specifier: message }));
}
