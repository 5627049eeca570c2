/** Diagnostics: a typed table of codes, problems as plain data, and how they are printed. */
export { type Annotated, renderAnnotation } from "./annotation.js";
export { type Diagnostic, diagnostic, type Parameters, type Severity, sortDiagnostics } from "./diagnostic.js";
export { type Printable, renderDiagnostic, renderJson, renderPrintable, renderSummary } from "./render.js";
export { type DiagnosticCode, table } from "./table.js";
