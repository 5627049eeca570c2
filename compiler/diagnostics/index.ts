/** Diagnostics: a typed table of codes, problems as plain data, and how they are printed. */
export { type AnnotatedFinding, renderAnnotation } from "./annotation.js";
export {
  type Diagnostic,
  type DiagnosticParameters,
  diagnostic,
  type Severity,
  sortDiagnostics,
} from "./diagnostic.js";
export { type PrintableFinding, renderDiagnostic, renderFinding, renderJson, renderSummary } from "./render.js";
export { type DiagnosticCode, diagnosticTable } from "./table.js";
