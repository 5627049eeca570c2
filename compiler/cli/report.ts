/**
 * Prints diagnostics: with the source line for people, as annotations in a workflow, or with `--json` as one JSON
 * object per line.
 */
import path from "node:path";
import {
  type AnnotatedFinding,
  type Diagnostic,
  renderAnnotation,
  renderDiagnostic,
  renderJson,
  renderSummary,
} from "../diagnostics/index.js";
import { readIfThere } from "../pipeline/project-files.js";
import type { Io } from "./io.js";

export function report(diagnostics: readonly Diagnostic[], root: string, json: boolean, io: Io): void {
  if (json) {
    for (const diagnostic of diagnostics) io.out(renderJson(diagnostic));
    return;
  }
  const color = process.stderr.isTTY === true && process.env["NO_COLOR"] === undefined;
  const textOf = (file: string) => readIfThere(path.join(root, file));
  for (const diagnostic of diagnostics) io.err(renderDiagnostic(diagnostic, { color, textOf }));
  if (diagnostics.length > 0) io.err(renderSummary(diagnostics));
  annotate(diagnostics, root, io);
}

/** Prints findings as annotations, which a workflow shows beside the source lines. Files are relative to `root`. */
export function annotate(found: readonly AnnotatedFinding[], root: string, io: Io): void {
  if (io.annotationRoot === undefined) return;
  for (const one of found) {
    const file = path.relative(io.annotationRoot, path.join(root, one.file)).split(path.sep).join("/");
    io.out(renderAnnotation(one, file));
  }
}
