/** Reads the schema files of a project: turns a type source into the schema model and its diagnostics. */
import path from "node:path/posix";
import { isNested, rootName, simpleName } from "../../../shared/names/qualified-name.js";
import { type Diagnostic, diagnostic, sortDiagnostics } from "../../diagnostics/index.js";
import { importedRoot } from "../../model/imported-path.js";
import type { Schema } from "../../model/index.js";
import type { SourceProblem, TypeSource } from "../type-source.js";
import { vocabularyNames } from "./builtins.js";
import { checkSchema } from "./check-schema.js";
import { ReadContext } from "./context.js";
import { nearestName } from "./nearest-name.js";
import { type ReadMemory, SchemaReader } from "./schema-reader.js";

export interface ReadSchema {
  /** The model, without ids. It must not be used if one of the diagnostics is an error. */
  readonly schema: Schema;
  readonly diagnostics: readonly Diagnostic[];
}

/** Why an import of a package cannot be used, and what to do. */
export interface RefusedImport {
  readonly why: string;
  readonly hint: string;
}

/** The results of the last reading of each source. */
const memories = new WeakMap<TypeSource, ReadMemory>();

/**
 * Reads the schema files of a project.
 *
 * @param source a source updated with the texts of all schema files
 * @param refused the imports of packages that cannot be used, by specifier
 */
export function readSchema(
  source: TypeSource,
  packageName: string,
  refused: ReadonlyMap<string, RefusedImport> = new Map(),
): ReadSchema {
  const context = new ReadContext(source);
  const memory = memories.get(source) ?? { declarations: new Map(), modules: new Map() };
  memories.set(source, memory);
  const schema: Schema = { package: packageName, modules: new SchemaReader(context, memory).read() };
  const problems = source.problems();
  const unparsed = new Set(problems.filter(({ kind }) => kind === "syntax").map(({ file }) => file));
  // Problems in a file that cannot be parsed are consequences of its syntax errors.
  const found = context.diagnostics.filter(({ file }) => !unparsed.has(file));
  // If Viceroy has reported a problem at a position, the compiler's message there says the same again.
  const places = new Set(found.map(placeOf));
  for (const problem of problems) {
    const report = problemDiagnostic(problem, context, refused);
    if (report.code !== "VC1002" || !places.has(placeOf(report))) found.push(report);
  }
  if (!found.some(({ severity }) => severity === "error")) found.push(...checkSchema(schema));
  return { schema, diagnostics: sortDiagnostics(found) };
}

function placeOf({ file, line, column }: Diagnostic): string {
  return `${file}:${line}:${column}`;
}

const onlySchemas: RefusedImport = {
  why: 'schema files can only import other schema files and "viceroy/schema"',
  hint: "Declare the type in a schema file.",
};

function problemDiagnostic(
  problem: SourceProblem,
  context: ReadContext,
  refused: ReadonlyMap<string, RefusedImport>,
): Diagnostic {
  const { kind, file, message, number, target } = problem;
  const at = context.position(file, problem.start);
  if (kind === "syntax") return diagnostic("VC1001", at, { message });
  if (kind === "type") {
    const name = /^Cannot find name '(\w+)'/.exec(message)?.[1] ?? "";
    if (vocabularyNames.has(name)) return diagnostic("VC1006", at, { name });
    return diagnostic("VC1002", at, { message, number, hint: name === "" ? "" : hintFor(name, file, context) });
  }
  if (target !== undefined) return diagnostic("VC1004", at, { specifier: message, file: target });
  if (/^\.\.?(\/|$)/.test(message)) return diagnostic("VC1003", at, { specifier: message });
  return diagnostic("VC1005", at, { specifier: message, ...(refused.get(message) ?? onlySchemas) });
}

/**
 * Returns a suggestion for an unknown name: a declaration of this or another schema file, or a name of
 * `viceroy/schema`.
 */
function hintFor(name: string, file: string, { source }: ReadContext): string {
  const files = new Map<string, string>();
  /** Qualified names of declarations in namespaces, by simple name. */
  const nested = new Map<string, string>();
  for (const path of source.files()) {
    if (path.startsWith(importedRoot)) continue;
    for (const declaration of source.declarations(path)) {
      if (path !== file && !declaration.exported) continue;
      files.set(declaration.name, path);
      if (isNested(declaration.name)) nested.set(simpleName(declaration.name), declaration.name);
    }
  }
  const json = /^Json/i.test(name) ? (/object/i.test(name) ? "Struct" : "Value") : undefined;
  const simple = [...files.keys(), ...vocabularyNames].filter((known) => !isNested(known));
  const meant = files.has(name) ? name : (nested.get(name) ?? nearestName(name, simple) ?? json);
  if (meant === undefined) return "";
  const from = files.get(meant);
  const question = meant === name ? "" : `Write \`${meant}\`, if that is meant.`;
  if (from === file) return question;
  const specifier = from === undefined ? "viceroy/schema" : importOf(file, from);
  return `${question} Add \`import type { ${rootName(meant)} } from "${specifier}";\`.`.trim();
}

/** Returns the module specifier by which one schema file imports from another. */
function importOf(file: string, target: string): string {
  const relative = path.relative(path.dirname(file), target).replace(/\.([cm]?)tsx?$/, ".$1js");
  return relative.startsWith(".") ? relative : `./${relative}`;
}
