/**
 * Renders diagnostics as workflow commands of GitHub Actions, which show them beside the source lines:
 * https://docs.github.com/actions/reference/workflow-commands-for-github-actions
 */
/** A diagnostic, or another finding with a position. */
export interface AnnotatedFinding {
  readonly code: string;
  readonly severity: "error" | "warning" | "notice";
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly text: string;
  readonly fix?: string;
}

/** @param file the path relative to the root of the repository */
export function renderAnnotation({ code, severity, line, column, text, fix }: AnnotatedFinding, file: string): string {
  const properties = Object.entries({ file, line, col: column, title: code }).map(([key, value]) => {
    return `${key}=${escapeProperty(String(value))}`;
  });
  const message = fix === undefined ? text : `${text}\nfix: ${fix}`;
  return `::${severity} ${properties.join(",")}::${escapeData(message)}`;
}

/** Escapes a text so that it stays on one line. Schema texts cannot end a command or begin another one. */
function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
