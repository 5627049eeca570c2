/** Prints breaking changes like diagnostics: with the source line, or as one JSON object per line. */
import { type Diagnostic, renderFinding, renderSummary } from "../diagnostics/index.js";
import type { Break, BreakClass } from "../evolve/index.js";
import type { Io } from "./io.js";
import { annotate } from "./report.js";

export type PrintedBreak = Omit<Break, "class"> & {
  readonly class?: BreakClass;
  readonly severity: Diagnostic["severity"];
};

export function toPrintedBreak(found: Break): PrintedBreak {
  return { ...found, severity: found.class === "DANGEROUS" ? "warning" : "error" };
}

/**
 * Prints breaking changes, with files relative to `root`.
 * @param textOf returns the text of a file of a version; undefined if the file cannot be read
 */
export function printBreaks(
  found: readonly PrintedBreak[],
  textOf: (file: string, side: Break["side"]) => string | undefined,
  { json, root }: { readonly json: boolean; readonly root: string },
  io: Io,
): void {
  if (json) {
    for (const one of found) io.out(breakToJson(one));
    return;
  }
  const color = process.stderr.isTTY === true && process.env["NO_COLOR"] === undefined;
  for (const { at, side, class: of, code, ...rest } of found) {
    const printable = { ...rest, ...at, code: of === undefined ? code : `${code} ${of}` };
    io.err(renderFinding(printable, { color, textOf: (file) => textOf(file, side) }));
  }
  if (found.length > 0) io.err(renderSummary(found));
  // Annotations cannot show lines of the older version, which is not in the checkout.
  const here = found.filter(({ side }) => side !== "older");
  annotate(
    here.map(({ at, ...rest }) => ({ ...rest, ...at })),
    root,
    io,
  );
}

/**
 * Returns the JSON of a diagnostic, followed by the class, the place for `break.ignore`, and whether the position is in
 * the older files.
 */
function breakToJson({
  code,
  severity,
  at: { file, line, column },
  text,
  fix,
  class: of,
  place,
  side,
}: PrintedBreak): string {
  return JSON.stringify({
    ...{ code, severity, file, line, column, text },
    ...(fix !== undefined && { fix }),
    ...(of !== undefined && { class: of }),
    place,
    ...(side === "older" && { older: true }),
  });
}
