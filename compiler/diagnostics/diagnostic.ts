/**
 * One problem of a user's schema, lock or configuration, as plain data. Diagnostics are created from the table and
 * never thrown.
 */
import type { Position } from "../model/index.js";
import { type DiagnosticCode, diagnosticTable } from "./table.js";

/** The severity of a diagnostic. Errors prevent compilation. */
export type Severity = "error" | "warning";

/** A problem that the compiler has found. */
export interface Diagnostic {
  /** The code of the rule: `VC1101`. */
  readonly code: DiagnosticCode;
  /** The severity of the problem. */
  readonly severity: Severity;
  /** The file, relative to the folder of the config file, with forward slashes. */
  readonly file: string;
  /** The line, from 1. */
  readonly line: number;
  /** The column, from 1, in UTF-16 units, as editors count. */
  readonly column: number;
  /** The description of the problem. */
  readonly text: string;
  /** The instruction that solves the problem. */
  readonly fix?: string;
}

/**
 * The names in braces in a template: `"{name} is {what}"` gives `"name" | "what"`. Braces that contain TypeScript code
 * are no parameters.
 */
type TemplateNames<Template> = Template extends `${string}{${infer Inside}}${infer Rest}`
  ? TemplateName<Inside> | TemplateNames<Rest>
  : never;
type TemplateName<Inside> = Inside extends `${string}{${infer Inner}`
  ? TemplateName<Inner>
  : Inside extends `${string} ${string}`
    ? never
    : Inside;
type DiagnosticEntry<Code extends DiagnosticCode> = (typeof diagnosticTable)[Code];
type DiagnosticFix<Code extends DiagnosticCode> =
  DiagnosticEntry<Code> extends { readonly fix: infer Template } ? Template : "";

/** The parameters of the texts of `Code`. */
export type DiagnosticParameters<Code extends DiagnosticCode> = Readonly<
  Record<TemplateNames<DiagnosticEntry<Code>["text"]> | TemplateNames<DiagnosticFix<Code>>, string | number>
>;

/** Creates a diagnostic from the texts of the table. */
export function diagnostic<Code extends DiagnosticCode>(
  code: Code,
  at: Position,
  parameters: DiagnosticParameters<Code>,
): Diagnostic {
  const entry: { severity: Severity; text: string; fix?: string } = diagnosticTable[code];
  const fill = (template: string) =>
    template.replace(/\{(\w+)\}/g, (_, name: string) => String((parameters as Record<string, string | number>)[name]));
  const { file, line, column } = at;
  const fix = entry.fix === undefined ? "" : fill(entry.fix);
  return { code, severity: entry.severity, file, line, column, text: fill(entry.text), ...(fix !== "" && { fix }) };
}

/** Sorts diagnostics by file, position and code, and removes duplicates. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const known = new Set<string>();
  const unique = diagnostics.filter((diagnostic) => {
    const key = JSON.stringify(diagnostic);
    return !known.has(key) && known.add(key);
  });
  return unique.sort(
    (a, b) => compareText(a.file, b.file) || a.line - b.line || a.column - b.column || compareText(a.code, b.code),
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
