/** `viceroy explain VC1107`: prints the documentation of a code. The pages are part of the package. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { packageRoot } from "../../installation.js";
import { exitCode, type Io } from "../io.js";

/** The pages with a section for each code, relative to the package. */
export const explainingPages = ["docs/reference/diagnostics.md", "docs/reference/breaking-changes.md"] as const;

export function explain(code: string, io: Io): number {
  const wanted = code.trim().toUpperCase();
  for (const page of explainingPages) {
    const section = sectionOf(readFileSync(path.join(packageRoot(), page), "utf8"), wanted);
    if (section === undefined) continue;
    io.out(section);
    return exitCode.ok;
  }
  io.err(`cannot explain ${code}: expected a code of Viceroy such as VC1107, got "${code}"`);
  return exitCode.usage;
}

/** Returns the section of a page from the heading with the code to the next heading of the same rank or above. */
function sectionOf(page: string, code: string): string | undefined {
  const lines = page.split("\n");
  const first = lines.findIndex((line) => line.startsWith(`### ${code}:`));
  if (first < 0) return undefined;
  let isCode = false;
  let end = first + 1;
  for (; end < lines.length; end++) {
    const line = lines[end] as string;
    if (line.startsWith("```")) isCode = !isCode;
    if (!isCode && /^#{1,3} /.test(line)) break;
  }
  return lines.slice(first, end).join("\n").trimEnd();
}
