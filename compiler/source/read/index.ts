/** Reads the schema files of a project: from a type source to the schema model and everything that is wrong with it. */
import path from "node:path/posix";
import { isNested, rootName, simpleName } from "../../../shared/names/qualified-name.js";
import { type Diagnostic, diagnostic, sortDiagnostics } from "../../diagnostics/index.js";
import type { Schema } from "../../model/index.js";
import type { SourceProblem, TypeSource } from "../type-source.js";
import { vocabularyNames } from "./builtins.js";
import { checkSchema } from "./check-schema.js";
import { ReadContext } from "./context.js";
import { nearestName } from "./nearest-name.js";
import { type ReadMemory, SchemaReader } from "./schema-reader.js";

export interface ReadSchema {
  /** Without ids. Not to be used any further when there is an error among the diagnostics. */
  readonly schema: Schema;
  readonly diagnostics: readonly Diagnostic[];
}

/** What was made of each source when it was last read. */
const memories = new WeakMap<TypeSource, ReadMemory>();

/** @param source updated with the texts of all schema files */
export function readSchema(source: TypeSource, packageName: string): ReadSchema {
  const context = new ReadContext(source);
  const memory = memories.get(source) ?? { declarations: new Map(), modules: new Map() };
  memories.set(source, memory);
  const schema: Schema = { package: packageName, modules: new SchemaReader(context, memory).read() };
  const problems = source.problems();
  const unparsed = new Set(problems.filter(({ kind }) => kind === "syntax").map(({ file }) => file));
  // What is made of a file that cannot be parsed is noise.
  const found = context.diagnostics.filter(({ file }) => !unparsed.has(file));
  // Where there is something to say in our own words, the compiler's say it again.
  const places = new Set(found.map(placeOf));
  for (const problem of problems) {
    const report = problemDiagnostic(problem, context);
    if (report.code !== "VC1002" || !places.has(placeOf(report))) found.push(report);
  }
  if (!found.some(({ severity }) => severity === "error")) found.push(...checkSchema(schema));
  return { schema, diagnostics: sortDiagnostics(found) };
}

function placeOf({ file, line, column }: Diagnostic): string {
  return `${file}:${line}:${column}`;
}

function problemDiagnostic(problem: SourceProblem, context: ReadContext): Diagnostic {
  const { kind, file, message, number, target } = problem;
  const at = context.position(file, problem.start);
  if (kind === "syntax") return diagnostic("VC1001", at, { message });
  if (kind === "type") {
    const name = /^Cannot find name '(\w+)'/.exec(message)?.[1] ?? "";
    if (vocabularyNames.has(name)) return diagnostic("VC1006", at, { name });
    return diagnostic("VC1002", at, { message, number, hint: name === "" ? "" : hintFor(name, file, context) });
  }
  if (target !== undefined) return diagnostic("VC1004", at, { specifier: message, file: target });
  const code = /^\.\.?(\/|$)/.test(message) ? "VC1003" : "VC1005";
  return diagnostic(code, at, { specifier: message });
}

/** Whom somebody may have meant by a name that is not there: what another schema file exports, or a word of the vocabulary. */
function hintFor(name: string, file: string, { source }: ReadContext): string {
  const files = new Map<string, string>();
  /** Whole names of what is in a namespace, by the simple one. */
  const nested = new Map<string, string>();
  for (const path of source.files()) {
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
