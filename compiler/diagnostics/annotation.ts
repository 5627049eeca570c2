/**
 * Diagnostics as workflow commands of GitHub Actions, which show them beside the lines they speak of:
 * https://docs.github.com/actions/reference/workflow-commands-for-github-actions
 */
/** A diagnostic, or whatever else has a place. */
export interface AnnotatedFinding {
  readonly code: string;
  readonly severity: "error" | "warning" | "notice";
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly text: string;
  readonly fix?: string;
}

/** @param file as the repository knows it: relative to its top */
export function renderAnnotation({ code, severity, line, column, text, fix }: AnnotatedFinding, file: string): string {
  const properties = Object.entries({ file, line, col: column, title: code }).map(([key, value]) => {
    return `${key}=${escapeProperty(String(value))}`;
  });
  const message = fix === undefined ? text : `${text}\nfix: ${fix}`;
  return `::${severity} ${properties.join(",")}::${escapeData(message)}`;
}

/** A command is one line; nothing that a schema holds can end it, or begin another. */
function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
