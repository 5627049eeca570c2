/** Generates `docs/reference/diagnostics.md` from the table of diagnostics and the fixtures. */
import { diagnosticTable, renderDiagnostic } from "../../../compiler/diagnostics/index.js";
import { expectedOf, fixtures, inputsOf } from "./fixtures.js";

const groups: Readonly<Record<string, string>> = {
  VC10: "Files and imports",
  VC11: "Types",
  VC12: "Declarations, actors, endpoints",
  VC13: "Tags",
  VC20: "The lock",
  VC30: "Generated files",
  VC40: "Configuration and other output formats",
};

const head = `# Diagnostics

This page lists every problem that \`viceroy compile\` reports about schemas, the lock and generated code, each with an example.
One run reports all problems together. With \`--json\` each problem is one line: \`{code, severity, file, line, column, text, fix?}\`.

If schemas have errors, the command exits with code 2. With \`--check\`, it exits with code 1 if the generated code or the lock does not
match the schemas, and VC2007 is an error instead of a warning. This page is generated from the table of diagnostics and its fixtures:
\`VICEROY_UPDATE=1 npx vitest run test/compiler/diagnostics\`.
`;

export function diagnosticsPage(): string {
  const parts = [head];
  for (const [group, title] of Object.entries(groups)) {
    parts.push(`## ${title}\n`);
    parts.push(
      ...fixtures()
        .filter((fixture) => fixture.startsWith(group))
        .map(section),
    );
  }
  return parts.join("\n");
}

function section(fixture: string): string {
  const code = fixture.slice(0, 6) as keyof typeof diagnosticTable;
  const inputs = inputsOf(fixture);
  const textOf = (file: string) => inputs.find(({ name }) => name === file)?.text;
  const found = expectedOf(fixture)
    .filter((diagnostic) => diagnostic.code === code)
    .map((diagnostic) => renderDiagnostic(diagnostic, { color: false, textOf }).replace(/\n {2}see .*$/, ""));
  return [
    // The anchor of this heading is the one that `diagnosticAnchor` returns.
    `### ${code}: ${diagnosticTable[code].slug.replaceAll("-", " ")}\n`,
    ...inputs.map(({ name, text }) => `\`${name}\`:\n\n${fence}${languageOf(name)}\n${text.trimEnd()}\n${fence}\n`),
    `${fence}text\n${found.join("\n")}\n${fence}\n`,
  ].join("\n");
}

const fence = "```";

function languageOf(name: string): string {
  // Not "ts": code in such a fence must compile.
  return name.endsWith(".ts") ? "typescript" : "text";
}
