/** What a code of the table says. Names in braces are filled in. */
export interface DiagnosticTableEntry {
  /** Names its fixture and its place in the documentation. */
  readonly slug: string;
  readonly severity: "error" | "warning";
  readonly text: string;
  /** What to do about it. */
  readonly fix?: string;
}
