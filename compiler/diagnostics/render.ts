/** Renders diagnostics: with the source line for people, and as one JSON object per line for programs. */
import type { Diagnostic } from "./diagnostic.js";

/** A finding that can be printed: a diagnostic, or another finding that names the command that explains it. */
export interface PrintableFinding extends Omit<Diagnostic, "code"> {
  readonly code: string;
}

export interface RenderOptions {
  readonly color: boolean;
  /** Returns the text of a file, or undefined if the file cannot be read. */
  readonly textOf: (file: string) => string | undefined;
}

/**
 * `schemas/a.ts:3:5 error VC1107: …`, the line with a mark below, and what to do:
 *
 *     3 |   value: string | number;
 *       |          ^
 *       fix: …
 */
export function renderDiagnostic(diagnostic: Diagnostic, options: RenderOptions): string {
  return renderFinding(diagnostic, options);
}

export function renderFinding(printable: PrintableFinding, { color, textOf }: RenderOptions): string {
  const { code, severity, file, line, column, text, fix } = printable;
  const paint = (style: number, part: string) => (color ? `\u001b[${style}m${part}\u001b[0m` : part);
  const label = paint(severity === "error" ? 31 : 33, severity);
  const lines = [`${paint(1, `${file}:${line}:${column}`)} ${label} ${paint(2, `${code}:`)} ${text}`];
  const source = textOf(file)?.split(/\r\n|[\n\r\u2028\u2029]/)[line - 1];
  if (source !== undefined && source.trim() !== "") {
    const number = String(line);
    const margin = `${" ".repeat(number.length + 2)}${paint(2, "|")} `;
    lines.push(`  ${paint(2, `${number} |`)} ${source.replaceAll("\t", " ")}`);
    lines.push(`  ${margin.slice(1)}${" ".repeat(Math.max(0, column - 1))}${paint(31, "^")}`);
  }
  if (fix !== undefined) lines.push(`  ${paint(36, "fix:")} ${fix}`);
  lines.push(`  ${paint(2, `see npx viceroy explain ${code.split(" ")[0]}`)}`);
  return lines.join("\n");
}

/** Renders a finding as one line of JSON, with its keys in a fixed order. */
export function renderJson({ code, severity, file, line, column, text, fix }: PrintableFinding): string {
  return JSON.stringify({ code, severity, file, line, column, text, ...(fix !== undefined && { fix }) });
}

/** Renders the number of findings: `2 errors, 1 warning`. */
export function renderSummary(diagnostics: readonly Pick<Diagnostic, "severity">[]): string {
  const count = (severity: string) => diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
  const parts = [counted(count("error"), "error"), counted(count("warning"), "warning")];
  return parts.filter((part) => part !== "").join(", ");
}

function counted(count: number, noun: string): string {
  return count === 0 ? "" : `${count} ${noun}${count === 1 ? "" : "s"}`;
}
