/** The texts of one diagnostic code. Names in braces are replaced by parameters. */
export interface DiagnosticTableEntry {
  /** The name of the fixture and of the section in the documentation. */
  readonly slug: string;
  readonly severity: "error" | "warning";
  readonly text: string;
  /** The instruction that solves the problem. */
  readonly fix?: string;
}
