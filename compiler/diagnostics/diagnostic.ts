/** One problem of a user's schema, lock or configuration, as plain data. Made from the table; never thrown. */
import type { Position } from "../model/index.js";
import { type DiagnosticCode, table } from "./table.js";

/** How serious a diagnostic is. Errors prevent compilation. */
export type Severity = "error" | "warning";

/** A problem that the compiler has found. */
export interface Diagnostic {
  /** The code of the rule: `VC1101`. */
  readonly code: DiagnosticCode;
  /** How serious the problem is. */
  readonly severity: Severity;
  /** The file, relative to the folder of the config file, with forward slashes. */
  readonly file: string;
  /** The line, from 1. */
  readonly line: number;
  /** The column, from 1, in UTF-16 units, as editors count. */
  readonly column: number;
  /** The description of the problem. */
  readonly text: string;
  /** How to solve the problem. */
  readonly fix?: string;
}

/** The names in braces in a template: `"{name} is {what}"` -> `"name" | "what"`. Braces of TypeScript hold no names. */
type Names<Template> = Template extends `${string}{${infer Inside}}${infer Rest}` ? Name<Inside> | Names<Rest> : never;
type Name<Inside> = Inside extends `${string}{${infer Inner}`
  ? Name<Inner>
  : Inside extends `${string} ${string}`
    ? never
    : Inside;
type Entry<Code extends DiagnosticCode> = (typeof table)[Code];
type Fix<Code extends DiagnosticCode> = Entry<Code> extends { readonly fix: infer Template } ? Template : "";

/** What the texts of `Code` speak of. */
export type Parameters<Code extends DiagnosticCode> = Readonly<
  Record<Names<Entry<Code>["text"]> | Names<Fix<Code>>, string | number>
>;

/** Fills in the texts of the table. */
export function diagnostic<Code extends DiagnosticCode>(
  code: Code,
  at: Position,
  parameters: Parameters<Code>,
): Diagnostic {
  const entry: { severity: Severity; text: string; fix?: string } = table[code];
  const fill = (template: string) =>
    template.replace(/\{(\w+)\}/g, (_, name: string) => String((parameters as Record<string, string | number>)[name]));
  const { file, line, column } = at;
  const fix = entry.fix === undefined ? "" : fill(entry.fix);
  return { code, severity: entry.severity, file, line, column, text: fill(entry.text), ...(fix !== "" && { fix }) };
}

/** By file, place and code; the same problem of the same place once. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const known = new Set<string>();
  const unique = diagnostics.filter((diagnostic) => {
    const key = JSON.stringify(diagnostic);
    return !known.has(key) && known.add(key);
  });
  return unique.sort(
    (a, b) => compare(a.file, b.file) || a.line - b.line || a.column - b.column || compare(a.code, b.code),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
