/**
 * The diagnostics of `--check`: generated files and the lock compared with the schemas. This module writes no files.
 */
import { type Diagnostic, diagnostic } from "../diagnostics/index.js";
import type { OutputPlan } from "../output/index.js";

/** @param lock the path of the lock; undefined if it is up to date */
export function driftDiagnostics(plan: OutputPlan, lock: string | undefined): readonly Diagnostic[] {
  const at = (file: string) => ({ file, line: 1, column: 1 });
  const found = plan.write.map(({ path: file, isNew }) => {
    return isNew ? diagnostic("VC3002", at(file), { file }) : diagnostic("VC3001", at(file), { file });
  });
  found.push(...plan.remove.map((file) => diagnostic("VC3003", at(file), { file })));
  if (lock !== undefined) found.push(diagnostic("VC3004", at(lock), { file: lock }));
  return found;
}
